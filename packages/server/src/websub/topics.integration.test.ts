// How topics are found, returned and fetched.
import { expect, test } from "vitest";
import { gate } from "../../../../tests/support/gate.ts";
import { feedsOf, hubUrl, openWorld, refusing, topicOf } from "../../../../tests/support/servers/websub.ts";

const world = openWorld({
  websub: { verificationsPerHost: 10_000, externalTopics: ["http://127.0.0.1/", "*"], maxTopicBytes: 2_000 },
});
const { feedOf, follow, serve, ping, fetches } = feedsOf(world);

test("a tenant's topic links to its hub and itself in one header, also for HEAD and before its first event", async () => {
  const link = `<${hubUrl}>; rel="hub", <${topicOf("found")}>; rel="self"`;
  const empty = await world.get("/websub/topics/acme/found");
  expect([empty.status, empty.headers.get("link")]).toEqual([204, link]);
  await world.publish("found", { n: 1 });
  const shown = await world.get("/websub/topics/acme/found");
  expect([shown.status, shown.headers.get("link")]).toEqual([200, link]);
  const head = await fetch(`${world.url}/websub/topics/acme/found`, { method: "HEAD" });
  expect(head.headers.get("link")).toBe(link);
  const etag = shown.headers.get("etag") ?? "";
  const known = await world.get("/websub/topics/acme/found", { "if-none-match": etag });
  expect(known.status).toBe(304);
  await world.publish("found", { n: 2 });
  const newer = await world.get("/websub/topics/acme/found", { "if-none-match": etag });
  expect([newer.status, JSON.parse(newer.text).data]).toEqual([200, { n: 2 }]);
});

test("closed and unknown topics get the same 404", async () => {
  await world.hooks.tenants.upsert("shy", {});
  await world.hooks.publish({ tenant: "shy", type: "order.paid", data: "private" });
  const replies = await Promise.all(
    ["shy/order.paid", "nobody/order.paid", "acme/webhook.test", "acme/Not.A.Type", "a%20b/x"].map((path) =>
      world.get(`/websub/topics/${path}`),
    ),
  );
  expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect([replies[0]?.status, replies[0]?.headers.get("content-type")]).toEqual([
    404,
    "text/plain; charset=utf-8",
  ]);
});

test("a test event is in no topic", async () => {
  await world.publish("tested", { n: 1 });
  const { endpoint } = await world.hooks.endpoints.create("acme", {
    url: `${world.subscriber.url}/own`,
    events: ["*"],
  });
  await world.hooks.endpoints.test("acme", endpoint.id, { type: "tested", data: { n: 2 } });
  await world.settle();
  expect(JSON.parse((await world.get("/websub/topics/acme/tested")).text).data).toEqual({ n: 1 });
});

test("a topic is fetched conditionally, and unchanged content is not distributed", async () => {
  await follow("known");
  serve("known", "one", { etag: 'W/"1"', "last-modified": "Mon, 16 Nov 2026 10:00:00 GMT" });
  await ping("known");
  world.subscriber.behave("/feed/known", refusing(304));
  await world.advance(10_000);
  await ping("known");
  serve("known", "one", { etag: '"other"' });
  await world.advance(10_000);
  await ping("known");
  expect(
    fetches("known").map(({ headers }) => [headers["if-none-match"], headers["if-modified-since"]]),
  ).toEqual([
    [undefined, undefined],
    ['W/"1"', "Mon, 16 Nov 2026 10:00:00 GMT"],
    ['W/"1"', "Mon, 16 Nov 2026 10:00:00 GMT"],
  ]);
  expect(world.news("known")).toHaveLength(1);
});

test("39: content is distributed whole, also if the topic had it before", async () => {
  await follow("back");
  for (const body of ["one", "two", "one"]) {
    serve("back", body);
    await ping("back");
    await world.advance(10_000);
  }
  expect(world.news("back").map(({ body }) => String(body))).toEqual(["one", "two", "one"]);
});

test("many pings cause one fetch, and one that comes too soon is done later", async () => {
  await follow("busy");
  serve("busy", "one");
  await ping("busy");
  // together and settled once, because one by one they took longer than the ten seconds between fetches on a busy machine
  const publish = { "hub.mode": "publish", "hub.url": feedOf("busy") };
  await Promise.all(Array.from({ length: 20 }, () => world.post(publish)));
  await world.settle();
  expect(fetches("busy")).toHaveLength(1);
  serve("busy", "two");
  await world.advance(10_000);
  await world.settle();
  expect(fetches("busy")).toHaveLength(2);
  expect(world.news("busy").map(({ body }) => String(body))).toEqual(["one", "two"]);
});

test("a ping during a fetch causes another fetch", async () => {
  await follow("meanwhile");
  const before = gate({ status: 200, body: "before" });
  world.subscriber.behave("/feed/meanwhile", () => before.opened);
  await world.post({ "hub.mode": "publish", "hub.url": feedOf("meanwhile") });
  await world.subscriber.until("the fetch", () => fetches("meanwhile").length === 1);
  await world.post({ "hub.mode": "publish", "hub.url": feedOf("meanwhile") });
  serve("meanwhile", "after");
  before.open();
  await world.settle();
  await world.advance(10_000);
  await world.settle();
  expect(world.news("meanwhile").map(({ body }) => String(body))).toEqual(["before", "after"]);
});

test("a topic of the maximum size is distributed, a larger one is not", async () => {
  await follow("large");
  serve("large", "x".repeat(2_000));
  await ping("large");
  expect(world.news("large")[0]?.body.length).toBe(2_000);
  serve("large", "y".repeat(2_001));
  await world.advance(10_000);
  await ping("large");
  expect(world.news("large")).toEqual([]);
});

test.each([301, 404])(
  "a topic that returns %i is not followed or retried until its next ping",
  async (status) => {
    const name = `moved_${status}`;
    await follow(name);
    const location = feedOf(`target_${status}`);
    world.subscriber.behave(`/feed/${name}`, () => ({ status, headers: { location }, body: "x" }));
    for (let count = 0; count < 3; count += 1) await ping(name);
    expect(fetches(name)).toHaveLength(1);
    await world.advance(10_000);
    await world.settle();
    await world.advance(3_600_000);
    await world.settle();
    expect(fetches(name)).toHaveLength(2); // one for the first ping, and one for those that came too soon
    expect(fetches(`target_${status}`)).toEqual([]);
    serve(name, "here");
    await ping(name);
    expect(world.news(name)).toHaveLength(1);
  },
);

test.each([
  ["one host", "topic 127.0.0.1", 60],
  ["all hosts", "topics", 600],
])("fetches per minute are limited for %s", async (_whose, permit, most) => {
  const names = ["first", "second"].map((name) => `${name}_of_${most}`);
  for (const name of names) {
    await follow(name);
    serve(name, name);
  }
  await world.query(
    `insert into posthorn.websub_rate_limits (name, window_ends_at, used)
     values ($1, posthorn.now() + interval '1 minute', $2)
     on conflict (name) do update set window_ends_at = excluded.window_ends_at, used = excluded.used`,
    [permit, most - 1],
  );
  for (const name of names) await ping(name);
  expect(names.map((name) => fetches(name).length)).toEqual([1, 0]);
  await world.advance(61_000);
  await world.settle();
  expect(names.map((name) => fetches(name).length)).toEqual([1, 1]);
});

test("content that is pushed during a fetch is distributed after it", async () => {
  await follow("pushed");
  serve("pushed", "fetched");
  await ping("pushed");
  // as if the fetch had published, and not yet stored its revision
  await world.query("update posthorn.websub_topics set revision = revision - 1 where url = $1", [
    feedOf("pushed"),
  ]);
  await world.hooks.websub.push(feedOf("pushed"), { contentType: "text/plain", body: Buffer.from("pushed") });
  await world.settle();
  expect(world.news("pushed").map(({ body }) => String(body))).toEqual(["fetched", "pushed"]);
  const body = Buffer.from("x");
  await expect(
    world.hooks.websub.push(feedOf("pushed"), { contentType: "text/plain; x=ü", body }),
  ).rejects.toThrow(/Content-Type/);
});

test("a topic with a password in its URL is refused, because every subscriber would get it", async () => {
  const topic = feedOf("secret").replace("http://", "http://user:password@");
  expect((await world.ask("secret", { "hub.topic": topic })).status).toBe(400);
});

test("a topic that does not respond is retried four times, and then at its next ping", async () => {
  await follow("down");
  world.subscriber.behave("/feed/down", () => "reset");
  await ping("down");
  for (const wait of [10_000, 60_000, 300_000, 1_800_000, 86_400_000]) {
    await world.advance(wait);
    await world.settle();
  }
  expect(fetches("down")).toHaveLength(5);
  serve("down", "up");
  await ping("down");
  expect(world.news("down")).toHaveLength(1);
});

test("compressed content is not distributed", async () => {
  await follow("zipped");
  serve("zipped", "x", { "content-encoding": "gzip" });
  await ping("zipped");
  expect(fetches("zipped")[0]?.headers["accept-encoding"]).toBe("identity");
  expect(world.news("zipped")).toEqual([]);
});

test("a topic at an address that is not allowed is never fetched", async () => {
  const topic = "http://169.254.169.254/latest/meta-data";
  await world.asked("inside", { "hub.topic": topic });
  await world.post({ "hub.mode": "publish", "hub.url": topic });
  await world.settle();
  expect(world.news("inside")).toEqual([]);
  const text = await world.hooks.metrics();
  expect(text).toMatch(/webhook_websub_fetches_total\{result="failed"\} [1-9]/);
});

test("a topic without subscribers is deleted", async () => {
  await follow("left");
  await world.asked("left", { "hub.topic": feedOf("left"), "hub.mode": "unsubscribe" });
  await world.hooks.engine?.maintenance.runNow();
  const rows = await world.query("select url from posthorn.websub_topics where url = $1", [feedOf("left")]);
  expect(rows).toEqual([]);
  await follow("left");
  serve("left", "again");
  await ping("left");
  expect(world.news("left")).toHaveLength(1);
});
