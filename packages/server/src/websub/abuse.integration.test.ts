// What strangers can make the hub do to others, and how much of it.
import type { PosthornOptions } from "posthorn";
import { createTestInstance, type TestInstance } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase } from "../../../../tests/support/postgres.ts";
import { publicUrl, startHub, topicUrl } from "../../../../tests/support/websub/hub.ts";
import { obedient, startSubscriber } from "../../../../tests/support/websub/subscriber.ts";
import { hold, openWorld } from "../../../../tests/support/websub/world.ts";

const perHost = 5;
const world = openWorld({
  websub: {
    verificationsPerHost: perHost,
    verificationsPerMinute: 8,
    maxSubscriptionsPerHost: 3,
    maxSubscriptions: 6,
    externalTopics: ["http://127.0.0.1/open/"],
  },
});
const minute = 60_000;
/** What other tests asked for is over. */
const quiet = async (minutes = 5): Promise<void> => {
  for (let round = 0; round < minutes; round += 1) {
    await world.advance(minute + 1);
    await world.settle();
  }
};

test("a flood of requests for one host makes so many requests to it a minute, and the rest wait or are refused", async () => {
  world.subscriber.behave("/victim", () => ({ status: 404 }));
  const statuses: number[] = [];
  for (let count = 0; count < 120; count += 1) {
    const callback = `${world.subscriber.url}/victim?${count}`;
    statuses.push((await world.ask("flood", { "hub.callback": callback })).status);
    if (count === 60) await world.settle();
  }
  await world.settle();
  expect(world.subscriber.asked("/victim")).toHaveLength(perHost);
  expect(statuses.filter((status) => status === 202).length).toBe(perHost * 10 + perHost);
  expect(statuses.at(-1)).toBe(429);
  await world.advance(minute + 1);
  await world.settle();
  expect(world.subscriber.asked("/victim")).toHaveLength(2 * perHost);
  await quiet(12);
  // each of those that were taken was asked once, and none of those that were refused
  expect(world.subscriber.asked("/victim")).toHaveLength(perHost * 11);
});

test("strangers who ask for more than the hub can do keep nobody from renewing, also on the same host", async () => {
  await world.asked("loyal");
  world.subscriber.behave("/victim", () => ({ status: 404 }));
  let status = 202;
  for (let count = 0; status === 202; count += 1) {
    const callback = `${world.subscriber.url}/victim?again=${count}`;
    status = (await world.ask("flood", { "hub.callback": callback })).status;
  }
  expect(status).toBe(429);
  expect((await world.asked("loyal", { "hub.lease_seconds": "4000" })).status).toBe(202);
  const [found] = (await world.subscriptions()).filter(({ url }) => url.endsWith("/loyal"));
  expect(Math.round((found?.leaseSeconds ?? 0) / 100)).toBe(40);
  expect((await world.asked("loyal", { "hub.mode": "unsubscribe" })).status).toBe(202);
  expect((await world.subscriptions()).filter(({ url }) => url.endsWith("/loyal"))).toEqual([]);
  await quiet(12);
});

test("asking for the same again and again makes no more requests than the host may get", async () => {
  world.subscriber.behave("/again", () => ({ status: 404 }));
  for (let count = 0; count < 30; count += 1) await world.asked("again");
  expect(world.subscriber.asked("/again").length).toBeLessThanOrEqual(perHost);
  await quiet();
});

test("denials count like verifications: a flood for topics that are not offered is no way around", async () => {
  for (let count = 0; count < 20; count += 1) {
    const callback = `${world.subscriber.url}/denied?${count}`;
    await world.ask("denied", { "hub.topic": "https://elsewhere.example.com/", "hub.callback": callback });
  }
  await world.settle();
  expect(world.subscriber.asked("/denied")).toHaveLength(perHost);
  await quiet();
});

test("all hosts together get so many a minute, and a host that is flooded takes nothing from the others", async () => {
  // the same server by another name
  const other = world.subscriber.url.replace("127.0.0.1", "localhost");
  world.subscriber.behave("/one", () => ({ status: 404 }));
  world.subscriber.behave("/other", () => ({ status: 404 }));
  for (let count = 0; count < 20; count += 1)
    await world.ask("all", { "hub.callback": `${world.subscriber.url}/one?${count}` });
  await world.settle();
  await world.ask("all", { "hub.callback": `${other}/other?0` });
  await world.settle();
  expect([world.subscriber.asked("/one").length, world.subscriber.asked("/other").length]).toEqual([
    perHost,
    1,
  ]);
  for (let count = 1; count < 10; count += 1)
    await world.ask("all", { "hub.callback": `${other}/other?${count}` });
  await world.settle();
  expect(world.subscriber.asked("/one").length + world.subscriber.asked("/other").length).toBe(8);
  await quiet();
});

test("a host has so many subscriptions, and a name as many as are left for others; renewing is always possible", async () => {
  const modes = (path: string) => world.subscriber.asked(path).map(({ query }) => query.get("hub.mode"));
  for (const name of ["s1", "s2", "s3", "s4"]) await world.asked(name);
  expect(["/s1", "/s2", "/s3", "/s4"].map(modes)).toEqual([
    ["subscribe"],
    ["subscribe"],
    ["subscribe"],
    ["denied"],
  ]);
  await world.advance(minute + 1);
  await world.asked("s3");
  expect(modes("/s3")).toEqual(["subscribe", "subscribe"]);
  const other = world.subscriber.url.replace("127.0.0.1", "localhost");
  const callbackOf = (name: string) => ({ "hub.callback": `${other}/${name}` });
  for (const name of ["o1", "o2", "o3"]) await world.asked(name, callbackOf(name));
  expect([modes("/o1"), modes("/o2"), modes("/o3")]).toEqual([["subscribe"], ["subscribe"], ["denied"]]);
  for (const name of ["s1", "s2", "s3"]) await world.asked(name, { "hub.mode": "unsubscribe" });
  for (const name of ["o1", "o2"])
    await world.asked(name, { "hub.mode": "unsubscribe", ...callbackOf(name) });
  await quiet();
});

test("subscriptions that are verified in the same moment do not pass the limit together", async () => {
  const held = hold({ status: 404 });
  for (const name of ["r1", "r2", "r3", "r4", "r5"])
    world.subscriber.behave(`/${name}`, (seen) =>
      held.answer.then(() => obedient(seen) as { status: number }),
    );
  for (const name of ["r1", "r2", "r3", "r4", "r5"]) await world.ask(name);
  await world.subscriber.until("all verifications", () => world.subscriber.asked("/r5").length === 1);
  held.release();
  await world.settle();
  const found = (await world.subscriptions()).filter(({ topic }) => /\/r\d$/.test(topic));
  expect(found).toHaveLength(3);
});

test("a callback that does not answer holds up no other", async () => {
  const hub = await startHub({ websub: { verificationsPerHost: 100 } });
  const subscriber = await startSubscriber();
  const held = hold({ status: 404 });
  onTestFinished(async () => {
    held.release();
    await subscriber.close();
    await hub.stop();
  });
  await hub.hooks.tenants.upsert("acme", { websubTopics: ["*"] });
  const ask = (path: string) =>
    hub.post({
      "hub.mode": "subscribe",
      "hub.topic": topicUrl("acme", "e"),
      "hub.callback": subscriber.url + path,
    });
  subscriber.behave("/slow", () => held.answer);
  for (let count = 0; count < 20; count += 1) await ask(`/slow?${count}`);
  await ask("/quick");
  await subscriber.until("the quick one", () => subscriber.asked("/quick").length === 1, 5_000);
});

test("what is opened to endpoints is closed to callbacks and topics of strangers, also after they were verified", async () => {
  const database = await createMigratedDatabase();
  const subscriber = await startSubscriber();
  const open = (websub: PosthornOptions["websub"]) =>
    createTestInstance({
      database: database.connectionString,
      publicUrl,
      websub: { externalTopics: ["*"], ...websub },
    });
  const trusting = await open({});
  onTestFinished(async () => {
    await subscriber.close();
    await database.drop();
  });
  const feed = `${subscriber.url}/feed`;
  const ask = ({ hooks }: TestInstance, fields: Record<string, string>) =>
    hooks.websub.take(new URLSearchParams({ "hub.mode": "subscribe", "hub.topic": feed, ...fields }));
  await trusting.hooks.tenants.upsert("acme", { websubTopics: ["*"] });
  await ask(trusting, { "hub.callback": `${subscriber.url}/a` });
  await ask(trusting, { "hub.callback": `${subscriber.url}/b`, "hub.topic": topicUrl("acme", "e") });
  await trusting.settle();
  await trusting.close();

  const careful = await open({ allowCidrs: [] });
  onTestFinished(() => careful.close());
  await expect(ask(careful, { "hub.callback": `${subscriber.url}/c` })).rejects.toThrow(/not a public one/);
  await careful.hooks.websub.take(new URLSearchParams({ "hub.mode": "publish", "hub.url": feed }));
  await careful.hooks.publish({ tenant: "acme", type: "e", data: 1 });
  await careful.settle();
  expect(subscriber.asked("/feed")).toEqual([]);
  expect(subscriber.notified("/b")).toEqual([]);
  const { data } = await careful.hooks.deliveries.list({ tenant: "acme" });
  expect(data.map(({ deadReason }) => deadReason)).toEqual(["blocked_address"]);
  // an endpoint of the tenant's own, beside it
  await careful.hooks.endpoints.create("acme", { url: `${subscriber.url}/own`, events: ["e"] });
  await careful.hooks.publish({ tenant: "acme", type: "e", data: 2 });
  await careful.settle();
  expect(subscriber.notified("/own")).toHaveLength(1);
});

test("topics that the operator did not name are denied, own ones are served", async () => {
  const modes = async (name: string, topic: string): Promise<unknown> => {
    await world.advance(minute + 1);
    await world.asked(name, { "hub.topic": topic });
    return world.subscriber.asked(`/${name}`).map(({ query }) => query.get("hub.mode"));
  };
  for (const { topic, url } of await world.subscriptions())
    await world.ask("end", { "hub.mode": "unsubscribe", "hub.topic": topic, "hub.callback": url });
  await quiet();
  expect(await modes("named", "http://127.0.0.1/open/feed")).toEqual(["subscribe"]);
  expect(await modes("unnamed", "http://127.0.0.1/closed/feed")).toEqual(["denied"]);
  expect(await modes("beside", "http://127.0.0.1.evil.example/open/feed")).toEqual(["denied"]);
});
