// Feeds that anyone may request at any rate: the cost of requests.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../tests/support/database/database-per-test.ts";
import type { Queryable } from "../../storage/database.ts";
import type { TestInstance } from "../../testing/index.ts";
import { OwnTopics, type TopicPage } from "./own-topics.ts";

const world = databasePerTest();
const { open } = world;

const factsOf = (type: string) => ({
  tenant: "acme",
  type,
  hubUrl: "https://hub.example.com",
  topicUrl: `https://hub.example.com/${type}`,
  createdAt: new Date(0),
});
const publish = ({ hooks }: TestInstance, type: string, length = 1) =>
  hooks.publish({ tenant: "acme", type, data: "x".repeat(length) });

/** Without redaction. */
const topicsIn = (db: Queryable, maxKeptBytes?: number) =>
  new OwnTopics({
    db,
    redactedView: async () => ({ version: "", redact: (event) => event }),
    ...(maxKeptBytes !== undefined && { maxKeptBytes }),
  });

async function feedOf(shown: OwnTopics, type: string): Promise<TopicPage> {
  return (await shown.show("atom", factsOf(type))) as TopicPage;
}

test("a feed is built once for all requests, even concurrent ones, and again after a new or a late entry", async () => {
  const instance = await open();
  const shown = topicsIn(instance.hooks.db);
  await publish(instance, "a");
  const [one, other] = [await feedOf(shown, "a"), await feedOf(shown, "a")];
  const [body, same] = await Promise.all([one.body(), other.body()]);
  expect(same).toBe(body);
  expect(other.tag).toBe(one.tag);
  await publish(instance, "a");
  const next = await feedOf(shown, "a");
  expect(next.tag).not.toBe(one.tag);
  expect((await next.body()).length).toBeGreaterThan(body.length);

  // older than the newest one
  await world.pool.query(
    `insert into posthorn.events (id, tenant, type, api_version, payload)
     select overlay(id::text placing '000000000000' from 25)::uuid, tenant, type, api_version, payload
     from posthorn.events`,
  );
  expect((await feedOf(shown, "a")).tag).not.toBe(next.tag);
});

test("feeds are cached up to a size, the least recently requested evicted first", async () => {
  const instance = await open();
  for (const type of ["a", "b", "c"]) await publish(instance, type, 4_000);
  const length = (await (await feedOf(topicsIn(instance.hooks.db), "a")).body()).length;
  const bodiesAfter = async (maxKeptBytes: number) => {
    const shown = topicsIn(instance.hooks.db, maxKeptBytes);
    const bodyOf = async (type: string) => (await feedOf(shown, type)).body();
    const first = { a: await bodyOf("a"), b: await bodyOf("b") };
    await bodyOf("a");
    await bodyOf("c");
    return [(await bodyOf("a")) === first.a, (await bodyOf("b")) === first.b];
  };
  expect(await bodiesAfter(3 * length)).toEqual([true, true]);
  expect(await bodiesAfter(3 * length - 1)).toEqual([true, false]);
});

test("two feeds are read at a time: the other connections are for publishing", async () => {
  const { hooks } = await open();
  let reading = 0;
  let most = 0;
  const query: Queryable["query"] = async (...asked) => {
    reading += 1;
    most = Math.max(most, reading);
    return await hooks.db.query<never>(...asked).finally(() => {
      reading -= 1;
    });
  };
  const shown = topicsIn({ query });
  const types = Array.from({ length: 10 }, (_, n) => `t${n}`);
  await Promise.all(types.map(async (type) => (await feedOf(shown, type)).body()));
  expect(most).toBe(2);
});
