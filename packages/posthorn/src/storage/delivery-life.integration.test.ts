// A model of deliveries beside the real tables: random publishes, claims, settlements, crashes, reaping and manual
// retries. After every step the database must equal the model and keep its invariants. A failure prints its seed:
// POSTHORN_SEED=<seed> repeats it, with POSTHORN_SHRINK=1 until it is small.
import { uuidv7 } from "@posthorn/wire";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bringToAnEnd, newEvent, toSettlement } from "../../../../tests/support/delivery-life/actions.ts";
import { createWorld, type Worker, type World } from "../../../../tests/support/delivery-life/model.ts";
import { steps } from "../../../../tests/support/delivery-life/steps.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { isQuick } from "../../../../tests/support/matrix.ts";
import { createMigratedDatabase, createPool, type TestDatabase } from "../../../../tests/support/postgres.ts";
import type { ClaimedDelivery, Uuid } from "../model.ts";
import { retryAfter } from "../settle/decide.ts";
import { Database, type Queryable } from "./database.ts";
import { migrate } from "./migrate.ts";
import { syncLanes } from "./queries/endpoints/sync-lanes.ts";
import { claim, ingest, type QueuedDelivery } from "./queries/events/ingest.ts";
import { acquireLanes } from "./queries/lanes/acquire.ts";
import { fetch } from "./queries/queue/fetch.ts";
import { recoverClaimed } from "./queries/queue/recover.ts";
import { settle } from "./queries/queue/settle.ts";
import { installTestClock } from "./queries/test-clock.ts";
import { reap } from "./queries/workers/reap.ts";

let database: TestDatabase;
let pool: pg.Pool;
let db: Database;

beforeAll(async () => {
  database = await createMigratedDatabase();
  // durability is not tested here
  pool = createPool(database.connectionString, { max: 8, options: "-c synchronous_commit=off" });
  db = new Database({ database: pool, schema: "posthorn" });
  await migrate(db);
  await installTestClock(db);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

test("any sequence of steps keeps deliveries in valid states and loses none", async () => {
  const seed = process.env.POSTHORN_SEED;
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 150, size: "max" }), async (commands) => {
      const world = await createWorld(db, pool);
      await fc.asyncModelRun(async () => world, commands);
      await bringToAnEnd(world.model, world.real);
    }),
    {
      numRuns: Number(process.env.POSTHORN_RUNS ?? (isQuick ? 6 : 60)),
      endOnFailure: process.env.POSTHORN_SHRINK === undefined,
      ...(seed === undefined ? {} : { seed: Number(seed) }),
    },
  );
}, 120_000);

test("a lane that gets its first delivery while its owner is reaped becomes ready", async () => {
  const { model, real } = await createWorld(db, pool);
  const [dead, other] = model.processes as [Worker, Worker];
  const id = await ingestOne(db, real, dead, claim.ifGained);
  await settle(db, dead.id, [toSettlement(await claimedById(dead, id), "delivered")]);
  const burial = await db.transaction(async (tx) => {
    await ingestOne(tx, real, other, claim.none);
    const burying = reap(db, { id: dead.id, leaseExpiresMs: null });
    await untilSomebodyWaits();
    return { burying };
  });
  expect(await burial.burying).toMatchObject({ deliveries: 0, lanes: 1 });
  expect(await acquireLanes(db, other.id, 10)).toEqual([{ endpointId: real.endpoints[0], hasParked: false }]);
});

test("a worker that is being reaped cannot write", async () => {
  const { model, real } = await createWorld(db, pool);
  const [dead] = model.processes as [Worker];
  const id = await ingestOne(db, real, dead, claim.ifGained);
  const delivery = await claimedById(dead, id);
  // a lock on its lane suspends the reaping after the deliveries were released
  const late = await db.transaction(async (tx) => {
    await syncLanes(tx, real.endpoints);
    const burying = reap(db, { id: dead.id, leaseExpiresMs: null });
    await untilSomebodyWaits(1);
    const settling = settle(db, dead.id, [toSettlement(delivery, "delivered")]);
    await untilSomebodyWaits(2);
    const ingesting = ingestOne(db, real, dead, claim.mine);
    await untilSomebodyWaits(3);
    return { burying, settling, ingesting };
  });
  expect(await late.burying).toMatchObject({ deliveries: 1 });
  expect(await late.settling).toEqual(new Set());
  expect(await late.ingesting).toBe("not written");
  const { rows } = await pool.query("select id, claimed_by, attempts, failures from posthorn.queue");
  expect(rows).toEqual([{ id, claimed_by: null, attempts: 1, failures: 0 }]);
});

test("a settlement that is repeated after a lost reply does not affect the next attempt", async () => {
  const { model, real } = await createWorld(db, pool);
  const [worker] = model.processes as [Worker];
  const id = await ingestOne(db, real, worker, claim.ifGained);
  const failed = { ...toSettlement(await claimedById(worker, id), "retry"), decision: retryAfter(0) };
  expect(await settle(db, worker.id, [failed])).toEqual(new Set([id]));
  const turn = { endpointId: real.endpoints[0] as Uuid, room: 5 };
  expect((await fetch(db, worker.id, [turn])).deliveries).toHaveLength(1);
  expect(await settle(db, worker.id, [failed])).toEqual(new Set());
  const { rows } = await pool.query("select claimed_by, attempts, failures from posthorn.queue");
  expect(rows).toEqual([{ claimed_by: worker.id, attempts: 1, failures: 1 }]);
});

test("a worker is not reaped while it is writing", async () => {
  const { model, real } = await createWorld(db, pool);
  const [busy] = model.processes as [Worker];
  await db.transaction(async (tx) => {
    await ingestOne(tx, real, busy, claim.ifGained);
    expect(await reap(db, { id: busy.id, leaseExpiresMs: null })).toBeNull();
  });
  expect(await fetch(db, busy.id, [{ endpointId: real.endpoints[0] as Uuid, room: 5 }])).toMatchObject({
    deliveries: [],
  });
  expect(await recoverClaimed(db, busy.id, [])).toHaveLength(1);
});

/** One event for the first endpoint. */
async function ingestOne(
  on: Queryable,
  real: World,
  worker: Worker,
  how: QueuedDelivery["claim"],
): Promise<Uuid> {
  const event = newEvent();
  const endpointId = real.endpoints[0] as Uuid;
  const id = uuidv7();
  const { written } = await ingest(on, {
    workerId: worker.id,
    delivers: true,
    routes: new Map(),
    events: [event],
    keys: [],
    outbox: [],
    deliveries: [{ id, eventId: event.id, endpointId, claim: how, isOrdered: false }],
    collected: [],
    foreignLanes: how === claim.mine ? [] : [endpointId],
  });
  return written ? id : "not written";
}

async function claimedById(worker: Worker, id: Uuid): Promise<ClaimedDelivery> {
  const claimed = await recoverClaimed(db, worker.id, []);
  return claimed.find((delivery) => delivery.id === id) as ClaimedDelivery;
}

async function untilSomebodyWaits(count = 1): Promise<void> {
  await eventually("the statements wait for a lock", async () => {
    const { rows } = await pool.query(
      `select count(*)::integer as waiting
       from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0].waiting >= count;
  });
}
