// The subscriber on every store that keeps subscriptions, with a real hub and a real server.
import { memoryStore, type Store } from "@posthorn/receiver";
import type { SubscriberOptions } from "@posthorn/receiver/websub";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openPool, openPostgres } from "../../../../tests/support/receiver/postgres-world.ts";
import {
  type HubRequest,
  openSubscriber,
  subscriptionsOf,
} from "../../../../tests/support/receiver/websub.ts";

const DAY_MS = 86_400_000;

async function openMemory() {
  vi.useFakeTimers({ toFake: ["Date"] });
  return {
    store: memoryStore() as Store,
    elapse: async (ms: number) => void vi.setSystemTime(Date.now() + ms),
  };
}
afterEach(() => void vi.useRealTimers());

describe.each([
  ["in memory", openMemory],
  ["in PostgreSQL", subscriptionsOf(openPostgres(openPool))],
])("%s", (_name, open) => {
  const opened = (options?: Partial<SubscriberOptions>) => openSubscriber(open, options);

  describe("discovery", () => {
    const links = (url: string, self: string) =>
      `<link rel="self" href="${self}"/><link rel="hub" href="${url}/hub"/>`;

    test.each<
      [name: string, link: (url: string) => string | string[], body?: (links: string, url: string) => string]
    >([
      ["100: Link headers, one each", (url) => [`<${url}/hub>; rel=hub`, "</canon>; rel=self"]],
      ["101: an HTML head", () => [], (found) => `<!doctype html><head>${found}</head>`],
      ["102: an Atom feed", () => [], (found) => `<?xml version="1.0"?><feed>${found}<entry/></feed>`],
      ["103: an RSS feed", () => [], (found) => `<rss><channel>${found.replaceAll("<l", "<atom:l")}<item/>`],
      [
        "104: Link headers precede links in the page",
        (url) => `<${url}/hub>; rel="hub", </canon>; rel="self"`,
        (_, url) => links(`${url}/wrong`, "/wrong"),
      ],
    ])("%s", async (_, link, body) => {
      const { hub, subscriber } = await opened();
      const page = {
        headers: { link: link(hub.url) },
        body: body?.(links(hub.url, "/canon"), hub.url) ?? "",
      };
      const url = hub.page("/found", page);
      const { requested } = await subscriber.subscribe(url);
      // 200: the topic's self link is requested.
      expect(requested).toEqual({ topic: `${hub.url}/canon`, hub: `${hub.url}/hub` });
      expect(hub.requests).toMatchObject([
        { path: "/hub", mode: "subscribe", topic: `${hub.url}/canon`, leaseSeconds: "864000" },
      ]);
    });

    test.each([301, 302])("201, 202: a redirect of the topic by %i is followed", async (status) => {
      const { hub, subscriber, topic } = await opened();
      const old = hub.page("/old", { status, headers: { location: "/feed" } });
      expect((await subscriber.subscribe(old)).requested?.topic).toBe(topic);
    });

    test("a topic that moves is renewed under its new URL, which its content then has", async () => {
      const { hub, subscriber, topic, elapse, follow, handled } = await opened();
      const request = await follow();
      const link = `<${hub.url}/other-hub>; rel="hub", </new>; rel="self"`;
      hub.page("/new", { headers: { link } });
      hub.page("/feed", { status: 301, headers: { location: "/new" } });
      await elapse(7 * DAY_MS);
      expect(await subscriber.renew()).toBe(1);
      expect(hub.last).toEqual({ ...request, path: "/other-hub", topic: `${hub.url}/new` });
      expect((await hub.verify(request)).status).toBe(404);
      expect((await hub.verify(hub.last)).status).toBe(200);
      await hub.distribute(request, "moved");
      expect(handled).toMatchObject([{ topic: `${hub.url}/new`, text: "moved" }]);
      expect((await subscriber.list()).map(({ url }) => url)).toEqual([topic]);
    });

    test.each([307, 308])(
      "203, 204: a hub that responds with %i redirects to another one",
      async (status) => {
        const { hub, subscriber, topic, failures } = await opened();
        hub.page("/hub", { status, headers: { location: "/elsewhere" } });
        await subscriber.subscribe(topic);
        expect(hub.requests.map(({ path, mode }) => [path, mode])).toEqual([
          ["/hub", "subscribe"],
          ["/elsewhere", "subscribe"],
        ]);
        expect(hub.requests[1]?.secret).toBe(hub.requests[0]?.secret);
        expect(failures).toEqual([]);
      },
    );

    test.each([
      [
        "five redirects are followed, a sixth is not",
        { status: 308, headers: { location: "/hub" } },
        6,
        "more than 5 times",
      ],
      [
        "302 is not followed, because it would send a GET",
        { status: 302, headers: { location: "/hub" } },
        1,
        "returned HTTP 302",
      ],
      ["307 without a Location", { status: 307 }, 1, "without a valid Location"],
      ["a rejection has its reason", { status: 403, body: "not you" }, 1, "returned HTTP 403: not you"],
    ])("%s", async (_, page, times, message) => {
      const { hub, subscriber, topic, failures } = await opened();
      hub.page("/hub", page);
      const { error } = await subscriber.subscribe(topic);
      expect(hub.requests).toHaveLength(times);
      expect(error).toContain(message);
      expect(failures).toEqual([error]);
    });

    test("the second of two hubs is used if the first is unavailable", async () => {
      const { hub, subscriber, elapse } = await opened();
      const link = `<${hub.url}/one>; rel="hub", <${hub.url}/two>; rel="hub"`;
      hub.page("/one", { status: 503 });
      await subscriber.subscribe(hub.page("/two-hubs", { headers: { link } }));
      await elapse(60_000);
      expect(await subscriber.renew()).toBe(1);
      expect(hub.requests.map(({ path }) => path)).toEqual(["/one", "/two"]);
      // A page without a self link is identified by its URL.
      expect(hub.last.topic).toBe(`${hub.url}/two-hubs`);
    });

    test.each([
      ["names no hub", { body: "<feed/>" }, "names no hub"],
      ["is unavailable", { status: 500 }, "returned HTTP 500"],
    ])("a page that %s is requested again after one, two and four minutes", async (_, page, message) => {
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
      expect(hub.requests).toHaveLength(1);
    });

    test("a page that does not respond fails after the time limit", async () => {
      const { hub, subscriber, failures } = await opened({ requestTimeoutMs: 50 });
      const url = hub.page("/silent", () => new Promise(() => {}));
      await subscriber.subscribe(url);
      expect(failures).toEqual([expect.stringMatching(/The request to .* failed/)]);
    });
  });

  describe("verification of intent", () => {
    test("a requested subscription is confirmed with the challenge, and its lease is stored", async () => {
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
      ["an end that was not requested", { mode: "unsubscribe" }],
      ["an unknown mode", { mode: "publish" }],
      ["no mode", { mode: null }],
      ["no challenge", { challenge: null }],
      ["an empty challenge", { challenge: "" }],
    ])("%s gets 404, and nothing changes", async (_, changes) => {
      const { hub, subscriber, topic } = await opened();
      await subscriber.subscribe(topic);
      const response = await hub.verify(hub.last, changes);
      expect(response.status).toBe(404);
      expect(response.body).not.toContain(response.challenge);
      expect(await subscriber.list()).toMatchObject([{ verified: null, mode: "subscribe" }]);
      expect((await hub.verify(hub.last)).status).toBe(200);
    });

    test("an unknown callback gets 404", async () => {
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

    test("each subscription has its own callback and secret of 256 random bits", async () => {
      const { hub, subscriber, topic } = await opened();
      await subscriber.subscribe(topic);
      await subscriber.subscribe(hub.page("/second", { headers: { link: `<${hub.url}/hub>; rel=hub` } }));
      for (const { callback, secret } of hub.requests) {
        expect(callback).toMatch(/\/websub\/[\w-]{43}$/);
        expect(secret).toMatch(/^[\w-]{43}$/);
      }
      expect(new Set(hub.requests.flatMap(({ callback, secret }) => [callback, secret])).size).toBe(4);
    });

    test("a hub may verify before it responds, or an hour later", async () => {
      const { hub, subscriber, topic, elapse } = await opened();
      hub.page("/hub", async (request) => {
        expect((await hub.verify(request)).status).toBe(200);
        return { status: 202 };
      });
      expect((await subscriber.subscribe(topic)).verified).not.toBeNull();
      await subscriber.subscribe(hub.page("/late", { headers: { link: `<${hub.url}/slow>; rel=hub` } }));
      await elapse(3_600_000);
      expect((await hub.verify(hub.last)).status).toBe(200);
    });

    test("a repeated verification gets the same response for five minutes", async () => {
      const { hub, follow, elapse } = await opened();
      const request = await follow();
      await elapse(290_000);
      expect((await hub.verify(request)).status).toBe(200);
      await elapse(20_000);
      expect((await hub.verify(request)).status).toBe(404);
    });

    test("repeated and concurrent calls of subscribe send one request", async () => {
      const { hub, subscriber, topic } = await opened();
      const subscribeTen = () => Promise.all(Array.from({ length: 10 }, () => subscriber.subscribe(topic)));
      await subscribeTen();
      expect((await hub.verify(hub.last)).status).toBe(200);
      await subscribeTen();
      expect(hub.requests).toHaveLength(1);
      expect(await subscriber.list()).toHaveLength(1);
    });
  });

  describe("denial", () => {
    test("is stored with its reason, reported, and final until the next subscribe", async () => {
      const { hub, subscriber, topic, follow, denied, elapse } = await opened();
      const request = await follow();
      expect((await hub.verify(request, { mode: "denied", topic: "https://example.com/" })).status).toBe(404);
      expect(
        (await hub.verify(request, { mode: "denied", reason: "moved away", challenge: null })).status,
      ).toBe(200);
      expect(denied).toMatchObject([{ url: topic, denied: "moved away", verified: null }]);
      expect((await hub.distribute(request, "still here")).status).toBe(410);
      await elapse(30 * DAY_MS);
      expect(await subscriber.renew()).toBe(0);
      expect((await hub.verify(request)).status).toBe(404);
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
    ])("a lease of %s seconds is renewed after %i", async (seconds, renewedAfter) => {
      const { hub, subscriber, topic, elapse } = await opened();
      await subscriber.subscribe(topic);
      expect((await hub.verify(hub.last, { lease_seconds: seconds })).status).toBe(200);
      await elapse(renewedAfter * 1_000 - 8_000);
      expect(await subscriber.renew()).toBe(0);
      await elapse(8_000);
      expect(await subscriber.renew()).toBe(1);
    });

    test("a renewal has the same callback and secret, and content is handled meanwhile", async () => {
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

    test("a subscription is renewed although its page is unavailable", async () => {
      const { hub, subscriber, follow, elapse } = await opened();
      const first = await follow();
      hub.page("/feed", { status: 500 });
      await elapse(7 * DAY_MS);
      await subscriber.renew();
      expect(hub.requests).toEqual([first, first]);
    });

    test("start() renews subscriptions that came due while nothing ran", async () => {
      const { hub, subscriber, follow, elapse } = await opened();
      const first = await follow();
      await elapse(20 * DAY_MS);
      const renewed = new Promise<HubRequest>((resolve) => {
        hub.page("/hub", async (request) => {
          resolve(request);
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
    test("is confirmed only if requested, deletes the subscription, and rejects content at once", async () => {
      const { hub, subscriber, topic, follow, handled } = await opened();
      const request = await follow();
      expect(await subscriber.unsubscribe(topic)).toBe(true);
      expect(hub.last).toEqual({ ...request, mode: "unsubscribe", secret: null, leaseSeconds: null });
      expect((await hub.distribute(request, "late")).status).toBe(410);
      expect((await hub.verify(request)).status).toBe(404); // a subscription that is not wanted any more
      const response = await hub.verify(hub.last);
      expect([response.status, response.body]).toEqual([200, response.challenge]);
      expect(await subscriber.list()).toEqual([]);
      expect((await hub.distribute(request, "later")).status).toBe(410);
      expect(handled).toEqual([]);
      expect(await subscriber.unsubscribe(topic)).toBe(false);
    });

    test("is retried while the hub is unavailable, and ends with the lease", async () => {
      const { hub, subscriber, topic, follow, elapse } = await opened();
      await follow();
      hub.page("/hub", { status: 500 });
      await subscriber.unsubscribe(topic);
      await elapse(60_000);
      expect(await subscriber.renew()).toBe(1);
      expect(hub.requests.filter(({ mode }) => mode === "unsubscribe")).toHaveLength(2);
      await elapse(11 * DAY_MS);
      await subscriber.renew();
      expect(await subscriber.list()).toEqual([]);
      expect(hub.requests).toHaveLength(3);
    });

    test("of a topic without a hub needs no request", async () => {
      const { hub, subscriber } = await opened();
      const url = hub.page("/none", {});
      await subscriber.subscribe(url);
      expect(await subscriber.unsubscribe(url)).toBe(true);
      expect(await subscriber.list()).toEqual([]);
    });
  });

  describe("content", () => {
    test.each(["sha1", "sha256", "sha384", "sha512"] as const)(
      "300: content signed by %s is handled",
      async (method) => {
        const { hub, topic, follow, handled } = await opened();
        const request = await follow();
        const contentType = "text/plain; charset=latin1";
        expect((await hub.distribute(request, "news", { method, contentType })).status).toBe(200);
        expect(handled).toEqual([{ topic, contentType, text: "news" }]);
      },
    );

    test("301, 302: content with a wrong or missing signature gets the normal response and is not handled", async () => {
      const { hub, follow, handled, rejected } = await opened();
      const request = await follow();
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
      const responses = [];
      for (const signature of wrong) responses.push(await hub.distribute(request, "forged", { signature }));
      responses.push(await hub.distribute({ ...request, secret: "another" }, "forged"));
      expect(handled).toEqual([]);
      expect(rejected.map(({ reason }) => reason)).toEqual([
        "header_missing",
        "no_match",
        "malformed",
        "malformed",
        "malformed",
        "malformed",
        "no_match",
        "no_match",
      ]);
      const right = await hub.distribute(request, "news");
      expect(new Set([...responses, right].map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
      expect(handled).toHaveLength(1);
    });

    test("the same bytes of a topic are handled once", async () => {
      const { hub, follow, handled } = await opened();
      const request = await follow();
      const other = await follow(hub.page("/other", { headers: { link: `<${hub.url}/hub>; rel=hub` } }));
      for (const text of ["a", "a", "b"]) await hub.distribute(request, text);
      await hub.distribute(other, "a");
      const again = await hub.distribute(request, "a");
      expect([again.status, again.headers.get("posthorn-duplicate")]).toEqual([200, "true"]);
      expect(handled.map(({ text }) => text)).toEqual(["a", "b", "a"]);
    });

    test("with `idHeader` the hub's id identifies content, so a topic may return to earlier content", async () => {
      const { hub, follow, handled } = await opened({ idHeader: "X-Webhook-Id" });
      const request = await follow();
      const send = (text: string, id?: string) =>
        hub.distribute(request, text, { headers: id === undefined ? {} : { "x-webhook-id": id } });
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

    test("is rejected before the subscription is verified, and its topic is never taken from a header", async () => {
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
});
