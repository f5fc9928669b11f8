// A process whose clock is a year off, among others that are right: here it is the database's time that is moved.
import { parseId, uuidTimeMs } from "@posthorn/wire";
import { expect, test } from "vitest";
import { databasePerTest } from "../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../tests/support/database/postgres.ts";
import type { TestInstance } from "./testing/index.ts";

const minute = 60_000;
const year = 365 * 24 * 60 * minute;
const event = { tenant: "acme", type: "order.paid", data: 1 };

const database = databasePerTest();

async function yearOff(ms: number, started: boolean): Promise<TestInstance> {
  const instance = await database.open({ started });
  await instance.advance(ms);
  return instance;
}

async function databaseMs({ hooks }: TestInstance): Promise<number> {
  return (await hooks.tenants.upsert("acme")).updatedAt.getTime();
}

test.each([
  ["behind", year],
  ["ahead", -year],
])("an event of a publisher that was not started and is a year %s has the database's time", async (_, ms) => {
  const world = await yearOff(ms, false);
  const alone = await world.hooks.publish({ ...event, idempotencyKey: "key" });
  const second = await inTransaction(database.pool, (tx) => world.hooks.publish(event, { tx }));
  const now = await databaseMs(world);
  for (const { id, duplicate } of [alone, second]) {
    const { createdAt } = await world.hooks.events.get(id);
    expect(Math.abs(now - createdAt.getTime())).toBeLessThan(minute);
    expect(duplicate).toBe(false);
  }
  const again = await world.hooks.publish({ ...event, idempotencyKey: "key" });
  expect(again).toMatchObject({ id: alone.id, duplicate: true });
});

test("ids of a publisher whose clock is right keep the order of its publishes, also within one transaction", async () => {
  const { hooks } = await yearOff(0, false);
  const ids: string[] = [];
  await inTransaction(database.pool, async (tx) => {
    for (let n = 0; n < 50; n += 1) ids.push((await hooks.publish(event, { tx })).id);
  });
  expect([...ids].sort()).toEqual(ids);
});

test("an endpoint's id has the database's time, so that the newest is first in the list", async () => {
  const world = await yearOff(year, true);
  const { endpoint } = await world.hooks.endpoints.create("acme", {
    url: "https://example.com/hooks",
    events: ["*"],
  });
  const createdAtMs = uuidTimeMs(parseId("ep", endpoint.id) as string);
  expect(Math.abs((await databaseMs(world)) - createdAtMs)).toBeLessThan(minute);
});
