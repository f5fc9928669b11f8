// Validation, denial, verification of intent and leases: points 21 to 34 of the list in docs/reference/websub.md.
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { adminKey } from "../../../../tests/support/start-server.ts";
import { topicUrl } from "../../../../tests/support/websub/hub.ts";
import { openWorld, refusing, topicOf } from "../../../../tests/support/websub/world.ts";

const world = openWorld({ websub: { verificationsPerHost: 10_000 } });
const day = 86_400_000;
const modes = (path: string) => world.subscriber.asked(path).map(({ query }) => query.get("hub.mode"));

test("21: only public topics of a tenant are served", async () => {
  await world.hooks.tenants.upsert("shy", {});
  await world.hooks.tenants.upsert("choosy", { websubTopics: ["order.*", "exact"] });
  const served = async (tenant: string, type: string): Promise<unknown> => {
    const name = `${tenant}_${type.replaceAll(".", "_")}`;
    await world.asked(name, { "hub.topic": topicUrl(tenant, type) });
    return modes(`/${name}`);
  };
  expect(await served("shy", "order.paid")).toEqual(["denied"]);
  expect(await served("nobody", "order.paid")).toEqual(["denied"]);
  expect(await served("choosy", "invoice.paid")).toEqual(["denied"]);
  expect(await served("choosy", "order.paid")).toEqual(["subscribe"]);
  expect(await served("choosy", "exact")).toEqual(["subscribe"]);
  expect(await served("acme", "webhook.endpoint.disabled")).toEqual(["denied"]);
  expect(await served("choosy", "order.paid/more")).toEqual(["denied"]);
});

test("21: topics of an inactive tenant are not served", async () => {
  await world.hooks.tenants.upsert("asleep", { websubTopics: ["*"], isActive: false });
  await world.asked("asleep", { "hub.topic": topicUrl("asleep", "order.paid") });
  expect(modes("/asleep")).toEqual(["denied"]);
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

test("22: each request is verified separately", async () => {
  await world.asked("twenty_two");
  await world.asked("twenty_two");
  expect(modes("/twenty_two")).toEqual(["subscribe", "subscribe"]);
});

test("23: a denial tells mode, topic and a reason behind the callback's own query", async () => {
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

test("24: closing a topic ends its subscriptions at once, and tells the subscribers", async () => {
  await world.hooks.tenants.upsert("fickle", { websubTopics: ["a", "b"] });
  await world.asked("fickle_a", { "hub.topic": topicUrl("fickle", "a") });
  await world.asked("fickle_b", { "hub.topic": topicUrl("fickle", "b") });
  await world.hooks.tenants.upsert("fickle", { websubTopics: ["b"] });
  for (const type of ["a", "b"]) await world.hooks.publish({ tenant: "fickle", type, data: 1 });
  await world.settle();
  expect(world.news("fickle_a")).toEqual([]);
  expect(world.news("fickle_b")).toHaveLength(1);
  expect(modes("/fickle_a")).toEqual(["subscribe", "denied"]);
  expect(modes("/fickle_b")).toEqual(["subscribe"]);
});

test("24: deleting a subscription by the API ends it, and tells the subscriber", async () => {
  await world.asked("revoked");
  const { data } = await world.hooks.endpoints.list("acme", { limit: 250 });
  const found = data.find(({ url }) => url.endsWith("/revoked"));
  await world.hooks.endpoints.delete("acme", found?.id ?? "");
  await world.publish("revoked");
  expect(world.news("revoked")).toEqual([]);
  expect(modes("/revoked")).toEqual(["subscribe", "denied"]);
});

test("25, 26: a verification has mode, the topic as it was written, a challenge, and the lease of a subscription", async () => {
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

test.each([200, 201, 202, 299])("27: %i with the challenge confirms", async (status) => {
  const name = `confirmed_${status}`;
  world.subscriber.behave(`/${name}`, ({ method, query }) =>
    method === "GET" ? { status, body: query.get("hub.challenge") ?? "" } : { status: 204 },
  );
  await world.asked(name);
  await world.publish(name);
  expect(world.news(name)).toHaveLength(1);
});

test.each([301, 302, 307, 308, 400, 404, 410, 429, 500, 503])(
  "28: %i with the challenge does not, and no redirect is followed",
  async (status) => {
    const name = `refused_${status}`;
    const location = `${world.subscriber.url}/elsewhere_${status}`;
    world.subscriber.behave(`/${name}`, ({ query }) => ({
      status,
      body: query.get("hub.challenge") ?? "",
      headers: { location },
    }));
    await world.asked(name);
    await world.advance(day);
    await world.settle();
    await world.publish(name);
    expect(world.subscriber.asked(`/${name}`)).toHaveLength(1);
    expect(world.subscriber.asked(`/elsewhere_${status}`)).toEqual([]);
    expect(world.news(name)).toEqual([]);
  },
);

test.each([
  ["nothing", () => ""],
  ["another text", () => "ok"],
  ["the challenge and more", (challenge: string) => `${challenge}\n`],
  ["a part of it", (challenge: string) => challenge.slice(1)],
  ["the challenge in a page", (challenge: string) => `<p>${challenge}</p>`],
  ["a body without end", (challenge: string) => challenge + "x".repeat(100_000)],
])("29: 200 with %s does not confirm", async (what, body) => {
  const name = `unconfirmed_${what.replaceAll(" ", "_")}`;
  world.subscriber.behave(`/${name}`, ({ query }) => ({
    status: 200,
    body: body(query.get("hub.challenge") ?? ""),
  }));
  await world.asked(name);
  await world.publish(name);
  expect(world.news(name)).toEqual([]);
});

test("29: a challenge that breaks off, although it is all there, confirms nothing", async () => {
  const broken = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (head) => {
      const challenge = /hub\.challenge=([\w-]+)/.exec(String(head))?.[1] ?? "";
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${challenge}`);
    });
  });
  await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void broken.close());
  const callback = `http://127.0.0.1:${(broken.address() as AddressInfo).port}/`;
  await world.asked("broken", { "hub.callback": callback });
  expect((await world.subscriptions()).filter(({ url }) => url === callback)).toEqual([]);
});

test("a request that nobody lived to work on is forgotten after so many tries, and asks nobody", async () => {
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

test("30: a challenge is random, and counts for one try alone", async () => {
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
  await world.publish("again");
  expect(world.news("again")).toEqual([]);
});

test("31: the lease counts from the verification, not from the request", async () => {
  world.subscriber.behave("/late", () => "reset");
  await world.asked("late", { "hub.lease_seconds": "600" });
  world.subscriber.behave("/late", ({ query }) => ({ status: 200, body: query.get("hub.challenge") ?? "" }));
  await world.advance(10_000);
  await world.settle();
  const [found] = (await world.subscriptions()).filter(({ topic }) => topic === topicOf("late"));
  expect(Math.abs((found?.leaseSeconds ?? 0) - 600)).toBeLessThan(5);
});

test("32: nothing is distributed when the lease has ended, and the subscription goes", async () => {
  await world.asked("ended", { "hub.lease_seconds": "600" });
  await world.advance(599_000);
  await world.publish("ended");
  expect(world.news("ended")).toHaveLength(1);
  await world.advance(1_000);
  await world.publish("ended");
  expect(world.news("ended")).toEqual([]);
  await world.advance(5_001);
  await world.hooks.engine?.runMaintenance();
  expect((await world.subscriptions()).filter(({ topic }) => topic === topicOf("ended"))).toEqual([]);
});

test("32: pending deliveries are not sent after the lease has expired", async () => {
  await world.asked("owed", { "hub.lease_seconds": "600" });
  world.subscriber.behave("/owed", refusing(503));
  await world.publish("owed");
  expect(world.news("owed")).toHaveLength(1);
  await world.advance(605_001);
  await world.settle();
  expect(world.news("owed")).toEqual([]);
  const { data } = await world.hooks.deliveries.list({ tenant: "acme", type: "owed" });
  expect(data.map(({ state, deadReason }) => [state, deadReason])).toEqual([["dead", "lease_ended"]]);
});

test("32: a renewal counts from its own verification", async () => {
  await world.asked("renewed", { "hub.lease_seconds": "600" });
  await world.advance(500_000);
  await world.asked("renewed", { "hub.lease_seconds": "600" });
  await world.advance(500_000);
  await world.publish("renewed");
  expect(world.news("renewed")).toHaveLength(1);
});

test("33: every lease is limited", async () => {
  await world.asked("for_ever", { "hub.lease_seconds": "999999999999999" });
  await world.advance(15 * day + 1_000);
  await world.publish("for_ever");
  expect(world.news("for_ever")).toEqual([]);
});

test("34: an unsubscription is verified like a subscription, and asks no publisher", async () => {
  await world.hooks.tenants.upsert("gone", { websubTopics: ["*"] });
  const topic = topicUrl("gone", "order.paid");
  await world.asked("leaving", { "hub.topic": topic });
  world.subscriber.behave("/leaving", refusing(404));
  await world.asked("leaving", { "hub.topic": topic, "hub.mode": "unsubscribe" });
  await world.hooks.publish({ tenant: "gone", type: "order.paid", data: 1 });
  await world.settle();
  expect(world.news("leaving")).toHaveLength(1);
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
