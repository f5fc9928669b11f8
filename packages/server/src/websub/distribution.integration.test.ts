// Pings and notifications: points 35 to 48 of the list in docs/reference/websub.md, with own and external topics.
import { createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { adminKey } from "../../../../tests/support/servers/start-server.ts";
import {
  feedsOf,
  hubUrl,
  obedient,
  openWorld,
  refusing,
  startHub,
  type TestHub,
  topicOf,
  topicUrl,
} from "../../../../tests/support/servers/websub.ts";

const world = openWorld({
  websub: { verificationsPerHost: 10_000, externalTopics: ["*"], maxTopicBytes: 2_000 },
  retryPolicy: "1s,10s",
  circuitFailures: 0,
});

const { feedOf, follow, serve, ping, fetches } = feedsOf(world);

test("35: a ping by hub.topic returns 204, and the topic is fetched and distributed", async () => {
  await follow("pinged");
  serve("pinged", "<feed>1</feed>");
  const reply = await world.post({ "hub.mode": "publish", "hub.topic": feedOf("pinged") });
  await world.settle();
  expect([reply.status, reply.text]).toEqual([204, ""]);
  expect(world.news("pinged").map(({ body }) => body.toString())).toEqual(["<feed>1</feed>"]);
});

test("35: many topics are pinged at once, as WordPress does", async () => {
  const names = ["many_1", "many_2", "many_3"];
  for (const name of names) {
    await follow(name);
    serve(name, `<feed>${name}</feed>`);
  }
  expect(await ping(...names, "many_1")).toBe(204);
  expect(names.map((name) => world.news(name).length)).toEqual([1, 1, 1]);
  const form = (count: number): string =>
    `hub.mode=publish&${Array.from({ length: count }, (_, index) => `hub.url=${feedOf(`n${index}`)}`).join("&")}`;
  expect([(await world.post(form(100))).status, (await world.post(form(101))).status]).toEqual([204, 400]);
  expect((await world.post({ "hub.mode": "publish" })).status).toBe(400);
});

test("35: a topic without subscribers is not fetched, and a ping for a tenant's topic has no effect", async () => {
  expect(await ping("unknown")).toBe(204);
  expect(fetches("unknown")).toEqual([]);
  expect((await world.post({ "hub.mode": "publish", "hub.topic": topicOf("ours") })).status).toBe(204);
});

test("35: a publisher with a key can push content up to the maximum size", async () => {
  await follow("pushed", { "hub.secret": "s" });
  const push = (topic: string, body: Buffer | string, key = adminKey): Promise<Response> =>
    fetch(`${world.url}/websub/content?topic=${encodeURIComponent(topic)}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "image/png; x=1" },
      body: new Uint8Array(Buffer.from(body)),
    });
  const bytes = Buffer.from([0x89, 0x50, 0, 0xff, 0xfe]);
  expect((await push(feedOf("pushed"), bytes)).status).toBe(204);
  await world.settle();
  const [seen] = world.news("pushed");
  expect([seen?.body, seen?.headers["content-type"]]).toEqual([bytes, "image/png; x=1"]);
  expect(fetches("pushed")).toEqual([]);
  expect((await push(feedOf("pushed"), bytes, "wrong")).status).toBe(401);
  expect((await push(topicOf("pushed"), bytes)).status).toBe(400);
  for (const noTopic of ["", "nonsense"]) {
    const refused = await push(noTopic, bytes);
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("topic must be the URL"),
    ]);
  }
  expect((await push(feedOf("pushed"), "x".repeat(2_000))).status).toBe(204);
  expect((await push(feedOf("pushed"), "x".repeat(2_001))).status).toBe(413);
});

test.each([
  ['text/html; charset="ISO-8859-1"', Buffer.from([0xe4, 0xf6, 0xfc])],
  ["application/json", '{"b":1.0,  "a":2}'],
  ["application/rss+xml", "\uFEFF<rss/>"],
])("37: content of %s keeps its type and its bytes", async (contentType, body) => {
  const name = `typed_${Buffer.from(contentType + body)
    .toString("hex")
    .slice(-40)}`;
  await follow(name);
  serve(name, body as string, { "content-type": contentType });
  await ping(name);
  const [seen] = world.news(name);
  expect(seen?.headers["content-type"]).toBe(contentType);
  expect(seen?.body).toEqual(Buffer.from(body as string));
});

test("38: the whole topic is sent, byte for byte as it is served", async () => {
  await world.asked("whole");
  await world.publish("whole", { text: "ü", n: 1 });
  const shown = await world.get("/websub/topics/acme/whole");
  const [seen] = world.news("whole");
  expect(shown.text).toBe(String(seen?.body));
  expect(shown.headers.get("content-type")).toBe(seen?.headers["content-type"]);
});

test("40, 41, 42: hub and topic are in one Link header", async () => {
  await world.asked("linked");
  await follow("linked_feed");
  serve("linked_feed", "x");
  await world.publish("linked");
  await ping("linked_feed");
  const links = (name: string): string[] => {
    const { rawHeaders = [] } = world.news(name)[0] ?? {};
    return rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === "link");
  };
  expect(links("linked")).toEqual([`<${hubUrl}>; rel="hub", <${topicOf("linked")}>; rel="self"`]);
  expect(links("linked_feed")).toEqual([`<${hubUrl}>; rel="hub", <${feedOf("linked_feed")}>; rel="self"`]);
});

test("43: 410 ends the subscription", async () => {
  await world.asked("over");
  world.subscriber.behave("/over", refusing(410));
  await world.publish("over");
  world.subscriber.behave("/over", obedient);
  expect(await world.published("over")).toHaveLength(1);
  expect(await world.subscriptionsTo("over")).toEqual([]);
  await world.asked("over");
  expect(await world.published("over")).toHaveLength(1);
});

test.each([
  ["43, 45: 200 is a success, whatever the body", 200, 2],
  ["43, 45: 299 is a success, whatever the body", 299, 2],
  ["44, 46: 301 is retried, and not followed", 301, 3],
  ["44, 46: 400 is retried", 400, 3],
  ["44, 46: 500 is retried", 500, 3],
])("%s", async (_what, status, notifications) => {
  const name = `status_${status}`;
  await world.asked(name);
  const location = `${world.subscriber.url}/moved`;
  const body = "hub.mode=unsubscribe ".repeat(10_000);
  let isFirst = true;
  world.subscriber.behave(`/${name}`, (seen) => {
    if (!isFirst) return obedient(seen);
    isFirst = false;
    return { status, headers: { location }, body };
  });
  await world.publish(name);
  await world.publish(name);
  await world.advance(60_000);
  await world.settle();
  expect(world.news(name)).toHaveLength(notifications);
  expect(world.subscriber.notified("/moved")).toEqual([]);
});

test("47: after the last attempt a notification is dead, and the subscription stays", async () => {
  const stubborn = await startHub({
    websub: {},
    retryPolicy: "1s",
    circuitFailures: 0,
    disableAfterFailures: 3,
    disableAfterDays: 1,
  });
  onTestFinished(() => stubborn.stop());
  await subscribeAt(stubborn, "stubborn");
  world.subscriber.behave("/stubborn", refusing(500));
  for (let event = 0; event < 4; event += 1) {
    await stubborn.hooks.publish({ tenant: "acme", type: "e", data: event });
    await stubborn.settle();
    await stubborn.advance(36 * 3_600_000);
    await stubborn.settle();
  }
  expect(world.news("stubborn")).toHaveLength(8);
  const { data } = await stubborn.hooks.deliveries.list({ tenant: "acme" });
  expect(data.map(({ state, deadReason }) => `${state} ${deadReason}`)).toEqual(
    Array.from({ length: 4 }, () => "dead attempts_exhausted"),
  );
  world.subscriber.behave("/stubborn", obedient);
  await stubborn.hooks.publish({ tenant: "acme", type: "e", data: 5 });
  await stubborn.settle();
  expect(world.news("stubborn")).toHaveLength(1);
});

test("48: with a secret the body is signed by HMAC, without one it is not signed", async () => {
  await world.asked("signed", { "hub.secret": "sécret" });
  await world.asked("unsigned");
  await world.publish("signed");
  await world.publish("unsigned");
  const [signed] = world.news("signed");
  const hex = createHmac("sha256", "sécret")
    .update(signed?.body ?? "")
    .digest("hex");
  expect(signed?.headers["x-hub-signature"]).toBe(`sha256=${hex}`);
  expect(world.news("unsigned")[0]?.headers).not.toHaveProperty("x-hub-signature");
});

test("48: a setting selects another signature method", async () => {
  const method = "sha512";
  const hub = await startHub({ websub: { signature: method } });
  onTestFinished(() => hub.stop());
  await subscribeAt(hub, method, { "hub.secret": "s" });
  await hub.hooks.publish({ tenant: "acme", type: "e", data: 1 });
  await hub.settle();
  const [seen] = world.news(method);
  const hex = createHmac(method, "s")
    .update(seen?.body ?? "")
    .digest("hex");
  expect(seen?.headers["x-hub-signature"]).toBe(`${method}=${hex}`);
});

/** Subscribes `/name` to a topic of another hub. */
async function subscribeAt(hub: TestHub, name: string, fields: Record<string, string> = {}): Promise<void> {
  await hub.hooks.tenants.upsert("acme", { websubTopics: ["*"] });
  const callback = `${world.subscriber.url}/${name}`;
  await hub.post({
    "hub.mode": "subscribe",
    "hub.topic": topicUrl("acme", "e"),
    "hub.callback": callback,
    ...fields,
  });
  await hub.settle();
}
