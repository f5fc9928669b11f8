import { createReceiver, fetchHandler, memoryStore, type Store } from "@posthorn/receiver";
import { createSubscriber, type Fetch } from "@posthorn/receiver/websub";
import { describe, expect, test } from "vitest";
import { startTestHub } from "../../../../tests/support/receiver/websub.ts";

async function hubWithFeed() {
  const hub = await startTestHub();
  return { hub, feed: hub.page("/feed", { headers: { link: `<${hub.url}/hub>; rel=hub` } }) };
}

test("Fetch-based servers need no adapter, and a receiver alone rejects content", async () => {
  const { hub, feed } = await hubWithFeed();
  const store = memoryStore();
  const subscriber = createSubscriber({ callbackUrl: "https://example.com/websub", store });
  const receiver = createReceiver({ sources: [subscriber.source], store, onRejected: null });
  const handle = fetchHandler(subscriber.before(receiver));
  await subscriber.subscribe(feed);
  const { callback, topic } = hub.last;
  const query = new URLSearchParams({ "hub.mode": "subscribe", "hub.topic": topic, "hub.challenge": "é &" });
  expect(await (await handle(new Request(`${callback}?${query}`))).text()).toBe("é &");
  expect((await handle(new Request(callback, { method: "PUT", body: "x" }))).status).toBe(405);
  const headers = { "posthorn-websub-topic": topic, "x-hub-signature": `sha256=${"0".repeat(64)}` };
  expect((await receiver.fetch(new Request(callback, { method: "POST", body: "x", headers }))).status).toBe(
    401,
  );
});

test("a hub that does not encode the question mark of a topic gets its challenge", async () => {
  const { hub } = await hubWithFeed();
  const link = `<${hub.url}/hub>; rel=hub, <${hub.url}/feed?page=1>; rel=self`;
  const store = memoryStore();
  const subscriber = createSubscriber({ callbackUrl: "https://example.com/websub", store });
  const handle = fetchHandler(subscriber.before(createReceiver({ sources: [subscriber.source], store })));
  await subscriber.subscribe(hub.page("/paged", { headers: { link } }));
  const { callback, topic } = hub.last;
  const requested = `${callback}?hub.mode=subscribe&hub.topic=${topic}&hub.challenge=c`;
  expect(await (await handle(new Request(requested))).text()).toBe("c");
});

test("while the store is unavailable hubs get 503, and the failure is reported", async () => {
  const { subscriptions } = memoryStore();
  const away = () => Promise.reject(new Error("away"));
  const store = { subscriptions: { ...subscriptions, find: away, confirm: away } } as unknown as Store;
  const failures: unknown[] = [];
  const subscriber = createSubscriber({
    callbackUrl: "https://example.com/",
    store,
    onFailure: (error) => failures.push(error),
  });
  const handle = fetchHandler(
    subscriber.before(createReceiver({ sources: [subscriber.source], store: memoryStore() })),
  );
  const url = `https://example.com/${"A".repeat(43)}`;
  const requested = await handle(new Request(`${url}?hub.mode=subscribe&hub.topic=x&hub.challenge=y`));
  expect([requested.status, requested.headers.get("retry-after")]).toEqual([503, "10"]);
  expect((await handle(new Request(url, { method: "POST", body: "x" }))).status).toBe(503);
  expect(failures).toHaveLength(2);
});

test("a hub that redirects from https to http does not get the secret", async () => {
  const requested: string[] = [];
  const fetch: Fetch = async (url) => {
    requested.push(url);
    if (url === "https://blog.example/")
      return new Response("", { headers: { link: "<https://hub.example/>; rel=hub" } });
    return new Response("", { status: 308, headers: { location: "http://hub.example/" } });
  };
  const store = memoryStore();
  const subscriber = createSubscriber({ callbackUrl: "https://example.com", store, fetch, onFailure: null });
  const { error } = await subscriber.subscribe("https://blog.example/");
  expect(error).toContain("would expose the secret");
  expect(requested).toEqual(["https://blog.example/", "https://hub.example/"]);
});

test("discovery reads at most half a megabyte of a page", async () => {
  const { hub } = await hubWithFeed();
  const subscriber = createSubscriber({
    callbackUrl: "https://example.com",
    store: memoryStore(),
    onFailure: null,
  });
  const link = `<link rel="hub" href="${hub.url}/hub">`;
  const room = 512 * 1024 - link.length;
  for (const [path, spaces, isFound] of [
    ["/in", room, true],
    ["/out", room + 1, false],
  ] as const) {
    const { requested } = await subscriber.subscribe(hub.page(path, { body: " ".repeat(spaces) + link }));
    expect(requested !== null).toBe(isFound);
  }
});

describe("invalid options are rejected with what to do", () => {
  const store = memoryStore();
  const callbackUrl = "https://example.com/websub";
  test.each<[what: string, options: object, message: RegExp]>([
    ["a callback with a query", { store, callbackUrl: `${callbackUrl}?a` }, /without a query/],
    ["a callback that is no URL", { store, callbackUrl: "/websub" }, /whole URL/],
    ["no callback, as when a variable is not set", { store }, /whole URL/],
    ["a store that keeps no subscriptions", { store: {}, callbackUrl }, /SQLite and Redis stores do not/],
    ["an option that there is not", { store, callbackUrl, leaseSecond: 1 }, /leaseSeconds/],
  ])("%s", (_, options, message) => {
    expect(() => createSubscriber(options as never)).toThrow(message);
  });

  test("a topic that is not an http URL, or longer than 2,048 characters", async () => {
    const fetch: Fetch = async () => new Response("", { status: 404 });
    const subscriber = createSubscriber({ callbackUrl, store, fetch, onFailure: null });
    const long = `https://example.com/${"a".repeat(2_028)}`;
    expect((await subscriber.subscribe(long)).url).toHaveLength(2_048);
    for (const url of [`${long}a`, "ftp://example.com/", "feed", undefined as never]) {
      await expect(subscriber.subscribe(url)).rejects.toThrow(/http or https URL of at most 2048/);
    }
  });
});
