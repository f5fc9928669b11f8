// A day of history from its deliveries to the end of its retention period, with a clock that tests move.
import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  newTenant,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import type { TestInstance } from "../testing/index.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const retentionDays = 3;

const receiver = await receiverPerFile();
const world = databasePerTest({ retentionDays, retryPolicy: "1s" });

let instance: TestInstance;
let pool: pg.Pool;
/** Midnight after the day that the tests publish in. */
let endOfDay: number;

beforeEach(async () => {
  pool = world.pool;
  instance = await world.open();
  // at noon, so that no midnight falls into the middle of a test
  const today = Math.floor(instance.hooks.clock.nowMs() / dayMs) * dayMs;
  endOfDay = today + 2 * dayMs;
  await clockTo(endOfDay - dayMs / 2);
});

async function clockTo(ms: number): Promise<void> {
  await instance.advance(ms - instance.hooks.clock.nowMs());
}

/** Advances past the retention period and runs maintenance. */
async function outliveTheDay(): Promise<void> {
  await clockTo(endOfDay + retentionDays * dayMs + hourMs);
  await runMaintenance();
}

async function runMaintenance(): Promise<void> {
  await instance.hooks.engine?.maintenance.runNow();
  expect(instance.hooks.engine?.maintenance.leads).toBe(true);
}

async function publishTo(answers: readonly number[]) {
  const tenant = await newTenant(instance);
  const { path } = await newEndpoint(instance, receiver, {}, tenant);
  receiver.answer(path, answers);
  const { id } = await instance.hooks.publish({ tenant, type: "order.paid", data: 1 });
  await instance.settle();
  const [delivery] = (await instance.hooks.events.get(id)).deliveries;
  return { event: id, delivery: delivery?.id as string };
}

/** Two attempts a second apart, then dead. */
async function makeDead() {
  const place = await publishTo([500, 503, 200]);
  await instance.advance(2_000);
  await instance.settle();
  expect((await instance.hooks.deliveries.get(place.delivery)).state).toBe("dead");
  return place;
}

test("an old dead letter that was retried is kept as long as any success, then deleted with its payload", async () => {
  const dead = await makeDead();
  const stillDead = await makeDead();
  await outliveTheDay();
  await instance.hooks.deliveries.retry(dead.delivery);
  await instance.settle();

  await instance.advance(retentionDays * dayMs - 60_000);
  await runMaintenance();
  expect((await instance.hooks.deliveries.get(dead.delivery)).state).toBe("success");

  await instance.advance(61_000);
  await runMaintenance();
  await expect(instance.hooks.events.get(dead.event)).rejects.toMatchObject({ code: "event_not_found" });
  expect(await world.countRows("events", "deliveries", "attempts")).toEqual([1, 1, 2]);
  expect((await instance.hooks.deliveries.get(stillDead.delivery)).attempts).toHaveLength(2);
});

test("an event that waits for its batch outlives its day, and a batch keeps its members", async () => {
  const { hooks } = instance;
  await hooks.tenants.upsert("acme");
  const batch = { maxEvents: 2, maxDelayMs: hourMs };
  const url = `${receiver.url}/batch`;
  await hooks.endpoints.create("acme", { url, events: ["*"], format: "cloudevents-batch", batch });
  const publish = async () => (await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 })).id;
  const ids = [await publish(), await publish()];
  await instance.settle();
  const waiting = await publish();
  // as if no process had delivered for days
  await pool.query("update posthorn.pending_batch_events set added_at = 'infinity'");
  await clockTo(endOfDay + retentionDays * dayMs - hourMs);
  await runMaintenance();
  expect((await hooks.events.get(ids[0] as string)).batches).toHaveLength(1);
  await outliveTheDay();
  expect(await world.countRows("events", "deliveries", "batch_events", "pending_batch_events")).toEqual([
    1, 0, 0, 1,
  ]);
  await pool.query("update posthorn.pending_batch_events set added_at = '-infinity'");
  await instance.settle();
  const [, late] = receiver.requestsTo("/batch").map(({ body }) => JSON.parse(body.toString()));
  expect(late).toMatchObject([{ id: waiting }]);
});
