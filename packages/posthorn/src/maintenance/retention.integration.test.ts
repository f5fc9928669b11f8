// A day of history from its deliveries to the end of its retention period, with a clock that tests move.
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase, createPool } from "../../../../tests/support/postgres.ts";
import {
  createTestInstance,
  type ScriptedReceiver,
  startScriptedReceiver,
  type TestInstance,
} from "../testing/index.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const retentionDays = 3;

let receiver: ScriptedReceiver;
beforeAll(async () => {
  receiver = await startScriptedReceiver();
});
afterAll(() => receiver.close());

let instance: TestInstance;
let pool: pg.Pool;
/** Midnight after the day that the tests publish in. */
let endOfDay: number;

beforeEach(async () => {
  const database = await createMigratedDatabase();
  pool = createPool(database.connectionString);
  instance = await createTestInstance({
    database: database.connectionString,
    retentionDays,
    retryPolicy: "1s",
  });
  onTestFinished(async () => {
    await instance.close();
    await pool.end();
    await database.drop();
  });
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
  expect(instance.hooks.engine?.isMaintenanceLeader).toBe(true);
  await instance.hooks.engine?.runMaintenance();
}

let places = 0;
async function publishTo(answers: readonly number[], data: unknown = 1) {
  places += 1;
  const [tenant, path] = [`tenant-${places}`, `/hook-${places}`];
  receiver.answer(
    path,
    answers.map((status) => ({ status, body: `said ${status}` })),
  );
  await instance.hooks.tenants.upsert(tenant);
  const { endpoint } = await instance.hooks.endpoints.create(tenant, {
    url: receiver.url + path,
    events: ["*"],
  });
  const { id } = await instance.hooks.publish({ tenant, type: "order.paid", data });
  await instance.settle();
  const [delivery] = (await instance.hooks.events.get(id)).deliveries;
  return { tenant, path, endpoint: endpoint.id, event: id, delivery: delivery?.id as string };
}

/** Two attempts a second apart, then dead. */
async function makeDead(data?: unknown) {
  const place = await publishTo([500, 503, 200], data);
  await instance.advance(2_000);
  await instance.settle();
  expect((await instance.hooks.deliveries.get(place.delivery)).state).toBe("dead");
  return place;
}

async function rowsIn(...tables: string[]): Promise<number[]> {
  return await Promise.all(
    tables.map(async (table) => {
      const { rows } = await pool.query(`select count(*)::integer as count from posthorn.${table}`);
      return rows[0].count;
    }),
  );
}

async function partitions(): Promise<string[]> {
  const { rows } = await pool.query("select name from posthorn.history_partitions() order by name");
  return rows.map((row) => row.name);
}

const nameOfDay = () => new Date(endOfDay - dayMs).toISOString().slice(0, 10).replaceAll("-", "");

test("finished history exists until the end of the retention period, and its space is freed after it", async () => {
  const { event, delivery } = await publishTo([200]);
  await clockTo(endOfDay + retentionDays * dayMs - 60_000);
  await runMaintenance();
  expect((await instance.hooks.deliveries.get(delivery)).attempts).toHaveLength(1);
  expect(await partitions()).toContain(`events_${nameOfDay()}`);

  await instance.advance(61_000);
  await runMaintenance();
  await expect(instance.hooks.deliveries.get(delivery)).rejects.toMatchObject({ code: "delivery_not_found" });
  await expect(instance.hooks.events.get(event)).rejects.toMatchObject({ code: "event_not_found" });
  expect(await rowsIn("events", "deliveries", "attempts")).toEqual([0, 0, 0]);
  expect((await partitions()).filter((name) => name.includes(nameOfDay()))).toEqual([]);
});

test("a day is complete until all of it is older than the retention period", async () => {
  await clockTo(endOfDay - 60_000);
  const late = await publishTo([200]);
  await clockTo(endOfDay + (retentionDays - 1) * dayMs + 12 * hourMs);
  await runMaintenance();
  expect((await instance.hooks.deliveries.get(late.delivery)).state).toBe("success");
});

test("a dead letter outlives its day with its payload and its attempts, and can be retried", async () => {
  const dead = await makeDead({ order: 17, text: "kept" });
  const success = await publishTo([200]);
  const before = await instance.hooks.deliveries.get(dead.delivery);
  await outliveTheDay();

  await expect(instance.hooks.deliveries.get(success.delivery)).rejects.toThrow("There is no delivery");
  expect(await instance.hooks.deliveries.get(dead.delivery)).toEqual(before);
  expect(before.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 503]);
  const { data } = await instance.hooks.deliveries.list({ state: "dead", tenant: dead.tenant });
  expect(data.map(({ id }) => id)).toEqual([dead.delivery]);
  expect(await rowsIn("events", "deliveries", "attempts")).toEqual([1, 1, 2]);

  await instance.hooks.deliveries.retry(dead.delivery);
  await instance.settle();
  const after = await instance.hooks.deliveries.get(dead.delivery);
  expect(after.state).toBe("success");
  expect(after.attempts.map(({ number, statusCode }) => [number, statusCode])).toEqual([
    [1, 500],
    [2, 503],
    [3, 200],
  ]);
  const bodies = receiver.requestsTo(dead.path).map(({ body }) => String(body));
  expect(new Set(bodies).size).toBe(1);
  expect(JSON.parse(bodies[2] as string)).toMatchObject({
    id: dead.event,
    data: { order: 17, text: "kept" },
  });
});

test("an unfinished delivery outlives its day and is delivered", async () => {
  const owed = await publishTo([500, 200]);
  await instance.hooks.endpoints.update(owed.tenant, owed.endpoint, { isActive: false });
  await outliveTheDay();
  expect(await rowsIn("events", "deliveries", "attempts", "queue")).toEqual([1, 0, 1, 1]);

  await instance.hooks.endpoints.update(owed.tenant, owed.endpoint, { isActive: true });
  await instance.settle();
  const { state, attempts } = await instance.hooks.deliveries.get(owed.delivery);
  expect([state, attempts.map(({ statusCode }) => statusCode)]).toEqual(["success", [500, 200]]);
});

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
  expect(await rowsIn("events", "deliveries", "attempts")).toEqual([1, 1, 2]);
  expect((await instance.hooks.deliveries.get(stillDead.delivery)).attempts).toHaveLength(2);
});

test("a year later the dead letter is still there, in one partition for its month", async () => {
  const dead = await makeDead();
  await clockTo(endOfDay + hourMs);
  // the day after, which may be of another month
  const next = await makeDead();
  await instance.advance(365 * dayMs);
  await runMaintenance();
  await runMaintenance();
  for (const { delivery, event } of [dead, next]) {
    expect((await instance.hooks.deliveries.get(delivery)).attempts).toHaveLength(2);
    expect(String((await instance.hooks.events.get(event)).payload)).toBe("1");
  }
  const month = (ms: number) => new Date(ms).toISOString().slice(0, 7).replace("-", "");
  const isOneMonth = month(endOfDay - 1) === month(endOfDay);
  const kept = (await partitions()).filter((name) => /^events.*_kept$/.test(name));
  expect(kept).toHaveLength(isOneMonth ? 1 : 2);
  if (isOneMonth) expect(kept).toEqual([`events_${month(endOfDay)}_kept`]);
  await instance.hooks.deliveries.retry(dead.delivery);
  await instance.settle();
  expect((await instance.hooks.deliveries.get(dead.delivery)).state).toBe("success");
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
  expect(await rowsIn("events", "deliveries", "batch_events", "pending_batch_events")).toEqual([1, 0, 0, 1]);
  await pool.query("update posthorn.pending_batch_events set added_at = '-infinity'");
  await instance.settle();
  const [, late] = receiver.requestsTo("/batch").map(({ body }) => JSON.parse(body.toString()));
  expect(late).toMatchObject([{ id: waiting }]);
});
