// A process whose clock is a year off, among others that are right: here it is the database's time that is moved.
import { parseId, uuidTimeMs } from "@posthorn/wire";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase } from "../../../tests/support/database/postgres.ts";
import { createTestInstance, type TestInstance } from "./testing/index.ts";

const minute = 60_000;
const year = 365 * 24 * 60 * minute;
const event = { tenant: "acme", type: "order.paid", data: 1 };

async function yearOff(ms: number, started: boolean) {
  const database = await createMigratedDatabase();
  const instance = await createTestInstance({ database: database.connectionString, started });
  const client = new pg.Client(database.connectionString);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await instance.close();
    await database.drop();
  });
  await instance.advance(ms);
  await instance.hooks.tenants.upsert("acme");
  return { ...instance, client };
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
  await world.client.query("begin");
  const inTransaction = await world.hooks.publish(event, { tx: world.client });
  await world.client.query("commit");
  const now = await databaseMs(world);
  for (const { id, duplicate } of [alone, inTransaction]) {
    const { createdAt } = await world.hooks.events.get(id);
    expect(Math.abs(now - createdAt.getTime())).toBeLessThan(minute);
    expect(duplicate).toBe(false);
  }
  const again = await world.hooks.publish({ ...event, idempotencyKey: "key" });
  expect(again).toMatchObject({ id: alone.id, duplicate: true });
});

test("ids of a publisher whose clock is right keep the order of its publishes, also within one transaction", async () => {
  const { hooks, client } = await yearOff(0, false);
  await client.query("begin");
  const ids: string[] = [];
  for (let n = 0; n < 50; n += 1) ids.push((await hooks.publish(event, { tx: client })).id);
  await client.query("commit");
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
