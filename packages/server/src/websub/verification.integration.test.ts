// Validation, denial, verification of intent and leases: points 21 to 34 of the list in docs/reference/websub.md.
import { expect, test } from "vitest";
import { rawServer } from "../../../../tests/support/servers/dispatcher.ts";
import { adminKey } from "../../../../tests/support/servers/start-server.ts";
import {
  type CallbackResponse,
  openWorld,
  refusing,
  topicOf,
  topicUrl,
} from "../../../../tests/support/servers/websub.ts";

const world = openWorld({ websub: { verificationsPerHost: 10_000 } });
const day = 86_400_000;

test("21: only public topics of active tenants are served", async () => {
  await world.hooks.tenants.upsert("shy", {});
  await world.hooks.tenants.upsert("choosy", { websubTopics: ["order.*", "exact"] });
  await world.hooks.tenants.upsert("asleep", { websubTopics: ["*"], isActive: false });
  for (const [tenant, type, mode] of [
    ["choosy", "order.paid", "subscribe"],
    ["choosy", "exact", "subscribe"],
    ["choosy", "invoice.paid", "denied"],
    ["choosy", "order.paid/more", "denied"],
    ["shy", "order.paid", "denied"],
    ["nobody", "order.paid", "denied"],
    ["asleep", "order.paid", "denied"],
    ["acme", "webhook.endpoint.disabled", "denied"],
  ] as const) {
    const name = `${tenant}_${type.replaceAll(".", "_")}`;
    await world.asked(name, { "hub.topic": topicUrl(tenant, type) });
    expect([name, world.modes(name)]).toEqual([name, [mode]]);
  }
  expect((await world.get("/websub/topics/asleep/order.paid")).status).toBe(404);
});

test("21: pushing content of a topic that is not served returns an error that names the setting", async () => {
  const path = "/websub/content?topic=https://elsewhere.example.com/feed";
  const refused = await world.send("POST", path, { authorization: `Bearer ${adminKey}` });
  expect([refused.status, refused.text]).toEqual([
    404,
    "The hub does not serve this topic. Add a prefix of its URL to POSTHORN_WEBSUB_EXTERNAL_TOPICS.\n",
  ]);
});

test("23: a denial has mode, topic and a reason after the callback's own query", async () => {
  const topic = "https://elsewhere.example.com/feed?a=b&c";
  await world.asked("denied", {
    "hub.topic": topic,
    "hub.callback": `${world.subscriber.url}/denied?mine=1`,
  });
  const [seen] = world.subscriber.asked("/denied");
  expect(seen?.url.startsWith("/denied?mine=1&hub.mode=denied&hub.topic=")).toBe(true);
  expect(seen?.query.get("hub.topic")).toBe(topic);
  expect(seen?.query.get("hub.reason")).toBe("This topic is not offered here.");
  expect(seen?.query.has("hub.challenge")).toBe(false);
});

test("24: closing a topic ends its subscriptions at once, and notifies the subscribers", async () => {
  await world.hooks.tenants.upsert("fickle", { websubTopics: ["a", "b"] });
  await world.asked("fickle_a", { "hub.topic": topicUrl("fickle", "a") });
  await world.asked("fickle_b", { "hub.topic": topicUrl("fickle", "b") });
  await world.hooks.tenants.upsert("fickle", { websubTopics: ["b"] });
  for (const type of ["a", "b"]) await world.hooks.publish({ tenant: "fickle", type, data: 1 });
  await world.settle();
  expect(world.news("fickle_a")).toEqual([]);
  expect(world.news("fickle_b")).toHaveLength(1);
  expect(world.modes("fickle_a")).toEqual(["subscribe", "denied"]);
  expect(world.modes("fickle_b")).toEqual(["subscribe"]);
});

test("24: deleting a subscription by the API ends it, and notifies the subscriber", async () => {
  await world.asked("revoked");
  const { data } = await world.hooks.endpoints.list("acme", { limit: 250 });
  const found = data.find(({ url }) => url.endsWith("/revoked"));
  await world.hooks.endpoints.delete("acme", found?.id ?? "");
  expect(await world.published("revoked")).toEqual([]);
  expect(world.modes("revoked")).toEqual(["subscribe", "denied"]);
});

test("25, 26: a verification has mode, the topic as requested, a challenge, and the lease of a subscription", async () => {
  const topic = topicOf("verified").replace("verified", "%76erified");
  await world.asked("verified", { "hub.topic": topic, "hub.lease_seconds": "4000" });
  await world.asked("verified", { "hub.topic": topic, "hub.mode": "unsubscribe" });
  const [begin, end] = world.subscriber.asked("/verified").map(({ query }) => Object.fromEntries(query));
  const challenge = expect.stringMatching(/^[\w-]{43}$/);
  expect(begin).toEqual({
    "hub.mode": "subscribe",
    "hub.topic": topic,
    "hub.challenge": challenge,
    "hub.lease_seconds": "4000",
  });
  expect(end).toEqual({ "hub.mode": "unsubscribe", "hub.topic": topic, "hub.challenge": challenge });
});

const withStatus = (status: number) => (challenge: string) => ({
  status,
  body: challenge,
  headers: { location: `${world.subscriber.url}/elsewhere` },
});
const withBody = (bodyOf: (challenge: string) => string) => (challenge: string) => ({
  status: 200,
  body: bodyOf(challenge),
});

test.each<[what: string, isConfirmed: boolean, responseTo: (challenge: string) => CallbackResponse]>([
  ["27: 200 with the challenge", true, withStatus(200)],
  ["27: 299 with the challenge", true, withStatus(299)],
  ["28: 301 with the challenge", false, withStatus(301)],
  ["28: 308 with the challenge", false, withStatus(308)],
  ["28: 404 with the challenge", false, withStatus(404)],
  ["28: 410 with the challenge", false, withStatus(410)],
  ["28: 503 with the challenge", false, withStatus(503)],
  ["29: 200 with nothing", false, withBody(() => "")],
  ["29: 200 with another text", false, withBody(() => "ok")],
  ["29: 200 with the challenge and more", false, withBody((challenge) => `${challenge}\n`)],
  ["29: 200 with a part of the challenge", false, withBody((challenge) => challenge.slice(1))],
  ["29: 200 with the challenge in a page", false, withBody((challenge) => `<p>${challenge}</p>`)],
  ["29: 200 with a long body", false, withBody((challenge) => challenge + "x".repeat(100_000))],
])("%s confirms: %s, and is final", async (what, isConfirmed, responseTo) => {
  const name = what.replace(/\W+/g, "_");
  world.subscriber.behave(`/${name}`, ({ method, query }) =>
    method === "GET" ? responseTo(query.get("hub.challenge") ?? "") : { status: 204 },
  );
  await world.asked(name);
  await world.advance(day);
  await world.settle();
  await world.publish(name);
  expect(world.subscriber.asked(`/${name}`)).toHaveLength(1);
  expect(world.subscriber.asked("/elsewhere")).toEqual([]);
  expect(world.news(name)).toHaveLength(isConfirmed ? 1 : 0);
});

test("29: a response that breaks off after the challenge does not confirm", async () => {
  const callback = await rawServer((socket, _nth, head) => {
    const [, challenge] = /hub\.challenge=([\w-]+)/.exec(String(head)) ?? [];
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${challenge}`);
  });
  await world.asked("broken", { "hub.callback": callback });
  expect((await world.subscriptions()).filter(({ url }) => url === callback)).toEqual([]);
});

test("a request whose process died ten times is dropped without another verification", async () => {
  const topic = topicOf("deadly");
  const callback = `${world.subscriber.url}/deadly`;
  const insert = (pair: string, attempts: number) =>
    world.query(
      `insert into posthorn.websub_requests (mode, topic, callback, pair, host, attempts)
       values ('subscribe', $1, $2, $3, '127.0.0.1', $4)`,
      [topic, `${callback}?${pair}`, Buffer.from(pair), attempts],
    );
  await insert("ninth", 9);
  await insert("tenth", 10);
  await world.settle();
  expect(world.subscriber.asked("/deadly").map(({ query }) => query.has("ninth"))).toEqual([true]);
  const left = await world.query("select id from posthorn.websub_requests where topic = $1", [topic]);
  expect(left).toEqual([]);
});

test("30: a challenge is random, and valid for one attempt", async () => {
  let first = "";
  world.subscriber.behave("/again", ({ method, query }) => {
    if (method === "POST") return { status: 204 };
    if (first !== "") return { status: 200, body: first };
    first = query.get("hub.challenge") ?? "";
    return "reset";
  });
  await world.asked("again");
  await world.advance(10_000);
  await world.settle();
  const challenges = world.subscriber.asked("/again").map(({ query }) => query.get("hub.challenge"));
  expect(new Set(challenges).size).toBe(2);
  expect(await world.published("again")).toEqual([]);
});

test("31: the lease counts from the verification, not from the request", async () => {
  world.subscriber.behave("/late", () => "reset");
  await world.asked("late", { "hub.lease_seconds": "600" });
  world.subscriber.behave("/late", ({ query }) => ({ status: 200, body: query.get("hub.challenge") ?? "" }));
  await world.advance(120_000);
  await world.settle();
  // the clock also runs by itself; from the request, 480 seconds would be left
  const [found] = await world.subscriptionsTo("late");
  expect(found?.leaseSeconds).toBeGreaterThan(540);
  expect(found?.leaseSeconds).toBeLessThan(660);
});

test("32: nothing is distributed after the lease has ended, and the subscription is deleted", async () => {
  await world.asked("ended", { "hub.lease_seconds": "600" });
  // a minute before it ends: the clock also runs by itself
  await world.advance(540_000);
  expect(await world.published("ended")).toHaveLength(1);
  await world.advance(60_000);
  expect(await world.published("ended")).toEqual([]);
  await world.advance(5_001);
  await world.hooks.engine?.maintenance.runNow();
  expect(await world.subscriptionsTo("ended")).toEqual([]);
});

test("32: pending deliveries are not sent after the lease has expired", async () => {
  await world.asked("owed", { "hub.lease_seconds": "600" });
  world.subscriber.behave("/owed", refusing(503));
  expect(await world.published("owed")).toHaveLength(1);
  await world.advance(605_001);
  await world.settle();
  expect(world.news("owed")).toEqual([]);
  const { data } = await world.hooks.deliveries.list({ tenant: "acme", type: "owed" });
  expect(data.map(({ state, deadReason }) => [state, deadReason])).toEqual([["dead", "lease_expired"]]);
});

test("32: a renewal counts from its own verification", async () => {
  await world.asked("renewed", { "hub.lease_seconds": "600" });
  await world.advance(500_000);
  await world.asked("renewed", { "hub.lease_seconds": "600" });
  await world.advance(500_000);
  expect(await world.published("renewed")).toHaveLength(1);
});

test("34: an unsubscription of an unknown pair is accepted, and sends no request", async () => {
  const reply = await world.asked("stranger", { "hub.mode": "unsubscribe" });
  expect([reply.status, world.subscriber.asked("/stranger")]).toEqual([202, []]);
});

test("a callback that does not respond is verified at most four times", async () => {
  world.subscriber.behave("/silent", () => "reset");
  await world.asked("silent");
  for (const wait of [10_000, 60_000, 300_000, day]) {
    await world.advance(wait);
    await world.settle();
  }
  expect(world.subscriber.asked("/silent")).toHaveLength(4);
});
