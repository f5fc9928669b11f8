// What the subscriber does on every store that keeps subscriptions, with a real hub and a real server between them.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createReceiver, eventTypes, type RejectedRequest, type Store } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import {
  createSubscriber,
  type Subscriber,
  type SubscriberOptions,
  type Subscription,
  type WebSubContent,
} from "@posthorn/receiver/websub";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Asked, startTestHub, type TestHub } from "./hub.ts";

export interface SubscriptionWorld {
  readonly store: Store;
  /** So long passes for the store. */
  elapse(ms: number): Promise<void>;
}

interface Handled extends WebSubContent {
  readonly text: string;
}

export interface Following {
  readonly hub: TestHub;
  readonly subscriber: Subscriber;
  readonly handled: Handled[];
  readonly refused: RejectedRequest[];
  readonly failures: string[];
  readonly denied: Subscription[];
  readonly elapse: SubscriptionWorld["elapse"];
  /** Of a page that names the hub in its header. */
  readonly topic: string;
  /** Subscribed to and verified. */
  follow(url?: string): Promise<Asked>;
  handler: () => void;
}

const DAY_MS = 86_400_000;

export async function openFollowing(
  open: () => Promise<SubscriptionWorld>,
  options: Partial<SubscriberOptions> = {},
): Promise<Following> {
  const { store, elapse } = await open();
  const hub = await startTestHub();
  onTestFinished(() => hub[Symbol.asyncDispose]());
  const handled: Handled[] = [];
  const refused: RejectedRequest[] = [];
  const failures: string[] = [];
  const denied: Subscription[] = [];

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/websub/`;
  const subscriber = createSubscriber({
    callbackUrl,
    store,
    onFailure: (error) => failures.push(String(error)),
    onDenied: (subscription) => denied.push(subscription),
    ...options,
  });
  onTestFinished(() => subscriber.stop());
  const receiver = createReceiver({
    sources: [subscriber.source],
    store,
    events: eventTypes<{ "websub.content": WebSubContent }>(),
    onRejected: (refusal) => refused.push(refusal),
    onFailure: null,
  });
  receiver.on("websub.content", ({ data, body }) => {
    following.handler();
    handled.push({ ...data, text: new TextDecoder().decode(body) });
  });
  const handle = nodeHandler(subscriber.before(receiver));

  const link = (path: string) => `<${hub.url}/hub>; rel="hub", <${hub.url}${path}>; rel="self"`;
  const topic = hub.page("/feed", { headers: { link: link("/feed") }, body: "<feed/>" });
  const following: Following = {
    hub,
    subscriber,
    handled,
    refused,
    failures,
    denied,
    elapse,
    topic,
    handler: () => {},
    async follow(url = topic) {
      await subscriber.subscribe(url);
      const asked = hub.last;
      expect((await hub.verify(asked)).status).toBe(200);
      return asked;
    },
  };
  return following;
}

export function subscriberSuite(open: () => Promise<SubscriptionWorld>): void {
  const opened = (options?: Partial<SubscriberOptions>) => openFollowing(open, options);

  describe("discovery", () => {
    const hubLink = (url: string, self: string) =>
      `<link rel="self" href="${self}"><link rel="hub" href="${url}/hub">`;

    test.each<
      [name: string, page: (url: string) => { headers: Record<string, string | string[]>; body?: string }]
    >([
      [
        "100: Link headers, each in one",
        (url) => ({ headers: { link: [`<${url}/hub>; rel=hub`, "</canon>; rel=self"] } }),
      ],
      [
        "101: an HTML head",
        (url) => ({
          headers: { "content-type": "text/html" },
          body: `<!doctype html><head>${hubLink(url, "/canon")}</head>`,
        }),
      ],
      [
        "102: an Atom feed",
        (url) => ({
          headers: { "content-type": "application/atom+xml" },
          body: `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="${url}/hub"/><link rel='self' href='/canon'/><entry/></feed>`,
        }),
      ],
      [
        "103: an RSS feed",
        (url) => ({
          headers: { "content-type": "application/rss+xml" },
          body: `<rss><channel><link>https://example.com/</link><atom:link rel="hub" href="${url}/hub"/><atom10:link rel="self" href="/canon"/><item/></channel></rss>`,
        }),
      ],
      [
        "104: Link headers before what the page says",
        (url) => ({
          headers: { link: `<${url}/hub>; rel="hub", </canon>; rel="self"` },
          body: hubLink(`${url}/wrong`, "/wrong"),
        }),
      ],
    ])("%s", async (_, page) => {
      const { hub, subscriber } = await opened();
      const url = hub.page("/found", page(hub.url));
      const { requested } = await subscriber.subscribe(url);
      // 200: what the topic calls itself is what is asked for
      expect(requested).toEqual({ topic: `${hub.url}/canon`, hub: `${hub.url}/hub` });
      expect(hub.asked).toMatchObject([
        { path: "/hub", mode: "subscribe", topic: `${hub.url}/canon`, leaseSeconds: "864000" },
      ]);
    });

    test.each([301, 302])("201, 202: a topic that moved by %i is followed to where it is", async (status) => {
      const { hub, subscriber, topic } = await opened();
      const old = hub.page("/old", { status, headers: { location: "/feed" } });
      expect((await subscriber.subscribe(old)).requested?.topic).toBe(topic);
    });

    test("a topic that moves is asked for under its new name at the renewal, and the content then has that", async () => {
      const { hub, subscriber, topic, elapse, follow, handled } = await opened();
      const asked = await follow();
      const link = `<${hub.url}/other-hub>; rel="hub", </new>; rel="self"`;
      hub.page("/new", { headers: { link } });
      hub.page("/feed", { status: 301, headers: { location: "/new" } });
      await elapse(7 * DAY_MS);
      expect(await subscriber.renew()).toBe(1);
      expect(hub.last).toEqual({ ...asked, path: "/other-hub", topic: `${hub.url}/new` });
      expect((await hub.verify(asked)).status).toBe(404);
      expect((await hub.verify(hub.last)).status).toBe(200);
      await hub.distribute(asked, "moved");
      expect(handled).toMatchObject([{ topic: `${hub.url}/new`, text: "moved" }]);
      expect((await subscriber.list()).map(({ url }) => url)).toEqual([topic]);
    });

    test.each([307, 308])("203, 204: a hub that answers %i sends us to another one", async (status) => {
      const { hub, subscriber, topic, failures } = await opened();
      hub.answers("/hub", { status, headers: { location: "/elsewhere" } });
      await subscriber.subscribe(topic);
      expect(hub.asked.map(({ path, mode }) => [path, mode])).toEqual([
        ["/hub", "subscribe"],
        ["/elsewhere", "subscribe"],
      ]);
      expect(hub.asked[1]?.secret).toBe(hub.asked[0]?.secret);
      expect(failures).toEqual([]);
    });

    test.each([
      [
        "five redirects are followed and not a sixth",
        { status: 308, headers: { location: "/hub" } },
        6,
        "more than 5 times",
      ],
      [
        "302 leads nowhere, since it would make a GET",
        { status: 302, headers: { location: "/hub" } },
        1,
        "returned HTTP 302",
      ],
      ["307 without a Location", { status: 307 }, 1, "without a valid Location"],
      ["a refusal has its reason", { status: 403, body: "not you" }, 1, "returned HTTP 403: not you"],
    ])("%s", async (_, page, times, message) => {
      const { hub, subscriber, topic, failures } = await opened();
      hub.answers("/hub", page);
      const { error } = await subscriber.subscribe(topic);
      expect(hub.asked).toHaveLength(times);
      expect(error).toContain(message);
      expect(failures).toEqual([error]);
    });

    test("the second of two hubs is asked when the first is away", async () => {
      const { hub, subscriber, elapse } = await opened();
      const link = `<${hub.url}/one>; rel="hub", <${hub.url}/two>; rel="hub"`;
      hub.answers("/one", { status: 503 });
      await subscriber.subscribe(hub.page("/two-hubs", { headers: { link } }));
      await elapse(60_000);
      expect(await subscriber.renew()).toBe(1);
      expect(hub.asked.map(({ path }) => path)).toEqual(["/one", "/two"]);
      // a page that does not say what it is called is called what it was found by
      expect(hub.last.topic).toBe(`${hub.url}/two-hubs`);
    });

    test.each([
      ["names no hub", { body: "<feed/>" }, "names no hub"],
      ["is away", { status: 500 }, "returned HTTP 500"],
    ])("a page that %s is kept and asked again after a minute, two, four", async (_, page, message) => {
      const { hub, subscriber, topic, elapse } = await opened();
      const url = hub.page("/later", page);
      expect(await subscriber.subscribe(url)).toMatchObject({
        requested: null,
        error: expect.stringContaining(message),
      });
      for (const ms of [60_000, 120_000, 240_000]) {
        await elapse(ms - 5_000);
        expect(await subscriber.renew()).toBe(0);
        await elapse(5_000);
        if (ms === 240_000) hub.page("/later", { status: 302, headers: { location: topic } });
        expect(await subscriber.renew()).toBe(1);
      }
      expect(hub.asked).toHaveLength(1);
    });

    test("a page that never ends its answer is given up", async () => {
      const { hub, subscriber, failures } = await opened({ requestTimeoutMs: 50 });
      const url = hub.page("/silent", () => new Promise(() => {}));
      await subscriber.subscribe(url);
      expect(failures).toEqual([expect.stringMatching(/The request to .* failed/)]);
    });
  });

  describe("verification of intent", () => {
    test("what was asked for is confirmed with the challenge as it is, and its lease is kept", async () => {
      const { hub, subscriber, topic } = await opened();
      await subscriber.subscribe(topic);
      const { status, body, challenge, headers } = await hub.verify(hub.last, { lease_seconds: "3600" });
      expect([status, body]).toEqual([200, challenge]);
      expect(headers.get("content-type")).toContain("text/plain");
      const [followed] = await subscriber.list();
      expect(followed?.verified?.topic).toBe(topic);
      const leaseMs = (followed?.verified?.leaseEndsAt.getTime() ?? 0) - Date.now();
      expect(Math.abs(leaseMs - 3_600_000)).toBeLessThan(10_000);
    });

    test.each<[what: string, changes: Record<string, string | null>]>([
      ["205: another topic", { topic: "https://example.com/other" }],
      ["no topic", { topic: null }],
      ["an end that nobody asked for", { mode: "unsubscribe" }],
      ["a mode that there is not", { mode: "publish" }],
      ["no mode", { mode: null }],
      ["no challenge", { challenge: null }],
      ["an empty challenge", { challenge: "" }],
    ])("%s is answered with 404, and nothing changes", async (_, changes) => {
      const { hub, subscriber, topic } = await opened();
      await subscriber.subscribe(topic);
      const heard = await hub.verify(hub.last, changes);
      expect(heard.status).toBe(404);
      expect(heard.body).not.toContain(heard.challenge);
      expect(await subscriber.list()).toMatchObject([{ verified: null, mode: "subscribe" }]);
      expect((await hub.verify(hub.last)).status).toBe(200);
    });

    test("a callback that is not ours is answered with 404, though it looks like one", async () => {
      const { hub, subscriber, topic } = await opened();
      await subscriber.subscribe(topic);
      const { callback } = hub.last;
      for (const other of [
        `${callback.slice(0, -1)}~`,
        callback.slice(0, -1),
        `${callback.slice(0, -43)}${"A".repeat(43)}`,
      ]) {
        expect((await hub.verify({ ...hub.last, callback: other })).status).toBe(404);
      }
    });

    test("callbacks and secrets are of 256 random bits, each subscription's own", async () => {
      const { hub, subscriber, topic } = await opened();
      await subscriber.subscribe(topic);
      await subscriber.subscribe(hub.page("/second", { headers: { link: `<${hub.url}/hub>; rel=hub` } }));
      for (const { callback, secret } of hub.asked) {
        expect(callback).toMatch(/\/websub\/[\w-]{43}$/);
        expect(secret).toMatch(/^[\w-]{43}$/);
      }
      expect(new Set(hub.asked.flatMap(({ callback, secret }) => [callback, secret])).size).toBe(4);
    });

    test("a hub that verifies before it answers, and one that verifies an hour later, are both right", async () => {
      const { hub, subscriber, topic, elapse } = await opened();
      hub.answers("/hub", async (asked) => {
        expect((await hub.verify(asked)).status).toBe(200);
        return { status: 202 };
      });
      expect((await subscriber.subscribe(topic)).verified).not.toBeNull();
      await subscriber.subscribe(hub.page("/late", { headers: { link: `<${hub.url}/slow>; rel=hub` } }));
      await elapse(3_600_000);
      expect((await hub.verify(hub.last)).status).toBe(200);
    });

    test("the same question is answered again within five minutes, and not after them", async () => {
      const { hub, follow, elapse } = await opened();
      const asked = await follow();
      await elapse(290_000);
      expect((await hub.verify(asked)).status).toBe(200);
      await elapse(20_000);
      expect((await hub.verify(asked)).status).toBe(404);
    });

    test("who subscribes at every start asks once", async () => {
      const { hub, subscriber, topic, follow } = await opened();
      await follow();
      await Promise.all([1, 2, 3].map(() => subscriber.subscribe(topic)));
      expect(hub.asked).toHaveLength(1);
      expect(await subscriber.list()).toHaveLength(1);
    });

    test("of ten that subscribe at once one asks", async () => {
      const { hub, subscriber, topic } = await opened();
      await Promise.all(Array.from({ length: 10 }, () => subscriber.subscribe(topic)));
      expect(hub.asked).toHaveLength(1);
    });
  });

  describe("denial", () => {
    test("is kept with its reason, told, and final until somebody subscribes again", async () => {
      const { hub, subscriber, topic, follow, denied, elapse } = await opened();
      const asked = await follow();
      expect((await hub.verify(asked, { mode: "denied", topic: "https://example.com/" })).status).toBe(404);
      expect(
        (await hub.verify(asked, { mode: "denied", reason: "moved away", challenge: null })).status,
      ).toBe(200);
      expect(denied).toMatchObject([{ url: topic, denied: "moved away", verified: null }]);
      expect((await hub.distribute(asked, "still here")).status).toBe(410);
      await elapse(30 * DAY_MS);
      expect(await subscriber.renew()).toBe(0);
      expect((await hub.verify(asked)).status).toBe(404);
      expect((await subscriber.subscribe(topic)).denied).toBeNull();
      expect((await hub.verify(hub.last)).status).toBe(200);
    });
  });

  describe("leases", () => {
    test.each([
      ["864000", 576_000],
      ["90", 60],
      ["1", 30],
      ["0", 57_600],
      [null, 57_600],
      ["-5", 57_600],
      ["1e3", 57_600],
      ["99999999999999", 30 * 86_400],
      ["9".repeat(400), 57_600],
    ])("one of %s seconds is renewed after %i", async (seconds, renewedAfter) => {
      const { hub, subscriber, topic, elapse } = await opened();
      await subscriber.subscribe(topic);
      expect((await hub.verify(hub.last, { lease_seconds: seconds })).status).toBe(200);
      await elapse(renewedAfter * 1_000 - 8_000);
      expect(await subscriber.renew()).toBe(0);
      await elapse(8_000);
      expect(await subscriber.renew()).toBe(1);
    });

    test("a renewal asks for the same callback with the same secret, and content goes on meanwhile", async () => {
      const { hub, subscriber, follow, elapse, handled } = await opened();
      const first = await follow();
      await elapse(7 * DAY_MS);
      expect(await subscriber.renew()).toBe(1);
      expect(hub.last).toEqual(first);
      await hub.distribute(first, "one");
      expect((await hub.verify(hub.last)).status).toBe(200);
      await hub.distribute(first, "two");
      expect(handled.map(({ text }) => text)).toEqual(["one", "two"]);
      const [followed] = await subscriber.list();
      expect((followed?.verified?.leaseEndsAt.getTime() ?? 0) - Date.now()).toBeGreaterThan(9 * DAY_MS);
    });

    test("a page that is away does not keep its subscription from being renewed", async () => {
      const { hub, subscriber, follow, elapse } = await opened();
      const first = await follow();
      hub.page("/feed", { status: 500 });
      await elapse(7 * DAY_MS);
      await subscriber.renew();
      expect(hub.asked).toEqual([first, first]);
    });

    test("start() renews what came due while nothing ran", async () => {
      const { hub, subscriber, follow, elapse } = await opened();
      const first = await follow();
      await elapse(20 * DAY_MS);
      const renewed = new Promise<Asked>((resolve) => {
        hub.answers("/hub", async (asked) => {
          resolve(asked);
          return { status: 202 };
        });
      });
      await subscriber.start();
      expect(await renewed).toEqual(first);
      await subscriber.stop();
      await subscriber.stop();
    });
  });

  describe("unsubscribing", () => {
    test("is confirmed only when asked for, forgotten then, and its content refused at once", async () => {
      const { hub, subscriber, topic, follow, handled } = await opened();
      const asked = await follow();
      expect(await subscriber.unsubscribe(topic)).toBe(true);
      expect(hub.last).toEqual({ ...asked, mode: "unsubscribe", secret: null, leaseSeconds: null });
      expect((await hub.distribute(asked, "late")).status).toBe(410);
      expect((await hub.verify(asked)).status).toBe(404); // a subscription that is not wanted any more
      const heard = await hub.verify(hub.last);
      expect([heard.status, heard.body]).toEqual([200, heard.challenge]);
      expect(await subscriber.list()).toEqual([]);
      expect((await hub.distribute(asked, "later")).status).toBe(410);
      expect(handled).toEqual([]);
      expect(await subscriber.unsubscribe(topic)).toBe(false);
    });

    test("is tried again while the hub is away, and given up when the lease has ended", async () => {
      const { hub, subscriber, topic, follow, elapse } = await opened();
      await follow();
      hub.answers("/hub", { status: 500 });
      await subscriber.unsubscribe(topic);
      await elapse(60_000);
      expect(await subscriber.renew()).toBe(1);
      expect(hub.asked.filter(({ mode }) => mode === "unsubscribe")).toHaveLength(2);
      await elapse(11 * DAY_MS);
      await subscriber.renew();
      expect(await subscriber.list()).toEqual([]);
      expect(hub.asked).toHaveLength(3);
    });

    test("of what no hub was found for needs nobody", async () => {
      const { hub, subscriber } = await opened();
      const url = hub.page("/none", {});
      await subscriber.subscribe(url);
      expect(await subscriber.unsubscribe(url)).toBe(true);
      expect(await subscriber.list()).toEqual([]);
    });
  });

  describe("content", () => {
    test.each(["sha1", "sha256", "sha384", "sha512"] as const)(
      "300: signed by %s it is handled",
      async (method) => {
        const { hub, topic, follow, handled } = await opened();
        const asked = await follow();
        const contentType = "text/plain; charset=latin1";
        expect((await hub.distribute(asked, "news", { method, contentType })).status).toBe(200);
        expect(handled).toEqual([{ topic, contentType, text: "news" }]);
      },
    );

    test("301, 302: a wrong signature and none hear what a right one hears, and are not handled", async () => {
      const { hub, follow, handled, refused } = await opened();
      const asked = await follow();
      const hex = "0".repeat(64);
      const wrong = [
        null,
        `sha256=${hex}`,
        "sha256=",
        `md5=${"0".repeat(32)}`,
        `__proto__=${hex}`,
        "x",
        `sha1=${hex}`,
      ];
      const heard = [];
      for (const signature of wrong) heard.push(await hub.distribute(asked, "forged", { signature }));
      heard.push(await hub.distribute({ ...asked, secret: "another" }, "forged"));
      expect(handled).toEqual([]);
      expect(refused.map(({ reason }) => reason)).toEqual([
        "header_missing",
        "no_match",
        "malformed",
        "malformed",
        "malformed",
        "malformed",
        "no_match",
        "no_match",
      ]);
      const right = await hub.distribute(asked, "news");
      expect(new Set([...heard, right].map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
      expect(handled).toHaveLength(1);
    });

    test("the same bytes of a topic count once, other bytes and other topics by themselves", async () => {
      const { hub, follow, handled } = await opened();
      const asked = await follow();
      const other = await follow(hub.page("/other", { headers: { link: `<${hub.url}/hub>; rel=hub` } }));
      for (const text of ["a", "a", "b"]) await hub.distribute(asked, text);
      await hub.distribute(other, "a");
      const again = await hub.distribute(asked, "a");
      expect([again.status, again.headers.get("posthorn-duplicate")]).toEqual([200, "true"]);
      expect(handled.map(({ text }) => text)).toEqual(["a", "b", "a"]);
    });

    test("with `idHeader` it is the hub's id that counts, so that a topic may go back to what it was", async () => {
      const { hub, follow, handled } = await opened({ idHeader: "X-Webhook-Id" });
      const asked = await follow();
      const send = (text: string, id?: string) =>
        hub.distribute(asked, text, { headers: id === undefined ? {} : { "x-webhook-id": id } });
      for (const [text, id] of [
        ["up", "1"],
        ["down", "2"],
        ["up", "3"],
        ["up", "3"],
      ] as const)
        await send(text, id);
      await send("none");
      await send("none");
      expect(handled.map(({ text }) => text)).toEqual(["up", "down", "up", "none"]);
      expect((await send("changed", "3")).status).toBe(422);
    });

    test("a handler that fails has the hub try again", async () => {
      const following = await opened();
      const { hub, follow, handled } = following;
      const asked = await follow();
      following.handler = () => {
        throw new Error("not now");
      };
      expect((await hub.distribute(asked, "news")).status).toBe(500);
      following.handler = () => {};
      expect((await hub.distribute(asked, "news")).status).toBe(200);
      expect(handled).toHaveLength(1);
    });

    test("before the subscription is verified it is refused, and so is what names another topic in a header of ours", async () => {
      const { hub, subscriber, topic, handled } = await opened();
      await subscriber.subscribe(topic);
      expect((await hub.distribute(hub.last, "early")).status).toBe(404);
      await hub.verify(hub.last);
      await hub.distribute(hub.last, "news", {
        headers: { "posthorn-websub-topic": "https://evil.example/" },
      });
      expect(handled).toMatchObject([{ topic, text: "news" }]);
    });
  });
}
