// Limits on the requests that anonymous subscribers can cause.
import type { PosthornOptions } from "posthorn";
import { createTestInstance, type TestInstance } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase } from "../../../../tests/support/database/postgres.ts";
import { gate } from "../../../../tests/support/gate.ts";
import {
  obedient,
  openWorld,
  publicUrl,
  startSubscriber,
  topicUrl,
} from "../../../../tests/support/servers/websub.ts";

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
/** Completes the requests of other tests. */
const finish = async (minutes = 5): Promise<void> => {
  for (let round = 0; round < minutes; round += 1) {
    await world.advance(minute + 1);
    await world.settle();
  }
};

test("verifications of one host are limited per minute; more requests wait, and then are refused", async () => {
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
  await finish(12);
  // each accepted request was verified once, and no refused one
  expect(world.subscriber.asked("/victim")).toHaveLength(perHost * 11);
});

test("too many requests do not prevent renewals, even on the same host", async () => {
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
  await finish(12);
});

test("denials count like verifications", async () => {
  for (let count = 0; count < 20; count += 1) {
    const callback = `${world.subscriber.url}/denied?${count}`;
    await world.ask("denied", { "hub.topic": "https://elsewhere.example.com/", "hub.callback": callback });
  }
  await world.settle();
  expect(world.subscriber.asked("/denied")).toHaveLength(perHost);
  await finish();
});

test("verifications of all hosts are limited per minute, and one host cannot use them up", async () => {
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
  await finish();
});

test("subscriptions per host and per domain are limited, and renewals always possible", async () => {
  for (const name of ["s1", "s2", "s3", "s4"]) await world.asked(name);
  expect(["s1", "s2", "s3", "s4"].flatMap(world.modes)).toEqual([...Array(3).fill("subscribe"), "denied"]);
  await world.advance(minute + 1);
  await world.asked("s3");
  expect(world.modes("s3")).toEqual(["subscribe", "subscribe"]);
  const other = world.subscriber.url.replace("127.0.0.1", "localhost");
  const callbackOf = (name: string) => ({ "hub.callback": `${other}/${name}` });
  for (const name of ["o1", "o2", "o3"]) await world.asked(name, callbackOf(name));
  expect(["o1", "o2", "o3"].flatMap(world.modes)).toEqual(["subscribe", "subscribe", "denied"]);
  for (const name of ["s1", "s2", "s3"]) await world.asked(name, { "hub.mode": "unsubscribe" });
  for (const name of ["o1", "o2"])
    await world.asked(name, { "hub.mode": "unsubscribe", ...callbackOf(name) });
  await finish();
});

test("subscriptions that are verified at the same moment do not exceed the limit together", async () => {
  const held = gate();
  for (const name of ["r1", "r2", "r3", "r4", "r5"])
    world.subscriber.behave(`/${name}`, (seen) =>
      held.opened.then(() => obedient(seen) as { status: number }),
    );
  for (const name of ["r1", "r2", "r3", "r4", "r5"]) await world.ask(name);
  await world.subscriber.until("all verifications", () => world.subscriber.asked("/r5").length === 1);
  held.open();
  await world.settle();
  const found = (await world.subscriptions()).filter(({ topic }) => /\/r\d$/.test(topic));
  expect(found).toHaveLength(3);
});

test("private addresses that endpoints may use are refused to callbacks and topics, also after their verification", async () => {
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
    hooks.websub.handle(new URLSearchParams({ "hub.mode": "subscribe", "hub.topic": feed, ...fields }));
  await trusting.hooks.tenants.upsert("acme", { websubTopics: ["*"] });
  await ask(trusting, { "hub.callback": `${subscriber.url}/a` });
  await ask(trusting, { "hub.callback": `${subscriber.url}/b`, "hub.topic": topicUrl("acme", "e") });
  await trusting.settle();
  await trusting.close();

  const careful = await open({ allowCidrs: [] });
  onTestFinished(() => careful.close());
  await expect(ask(careful, { "hub.callback": `${subscriber.url}/c` })).rejects.toThrow(/not a public one/);
  await careful.hooks.websub.handle(new URLSearchParams({ "hub.mode": "publish", "hub.url": feed }));
  await careful.hooks.publish({ tenant: "acme", type: "e", data: 1 });
  await careful.settle();
  expect(subscriber.asked("/feed")).toEqual([]);
  expect(subscriber.notified("/b")).toEqual([]);
  const { data } = await careful.hooks.deliveries.list({ tenant: "acme" });
  expect(data.map(({ deadReason }) => deadReason)).toEqual(["blocked_address"]);
  await careful.hooks.endpoints.create("acme", { url: `${subscriber.url}/own`, events: ["e"] });
  await careful.hooks.publish({ tenant: "acme", type: "e", data: 2 });
  await careful.settle();
  expect(subscriber.notified("/own")).toHaveLength(1);
});
