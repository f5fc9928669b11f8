// The life of deliveries as a model beside the real tables: random publishes, claims, settlements, crashes, burials and
// retries by hand, and after every single step the database must be what the model says and keep its invariants.
// A failure prints seed and path; POSTHORN_SEED=<seed> runs it again.
import { hash, randomUUID } from "node:crypto";
import { uuidv7 } from "@posthorn/wire";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createDatabase, createPool, type TestDatabase } from "../../../../tests/support/postgres.ts";
import type { ClaimedDelivery, Event, Settlement, Uuid } from "../model.ts";
import { Database, type Queryable } from "./database.ts";
import { migrate } from "./migrate.ts";
import { lockEndpoint } from "./queries/endpoints/read.ts";
import { syncLanes } from "./queries/endpoints/sync-lanes.ts";
import { insertEndpoint, updateEndpoint } from "./queries/endpoints/write.ts";
import { claim, type IngestResult, ingest, type QueuedDelivery } from "./queries/events/ingest.ts";
import { publishStatement } from "./queries/events/publish-in-transaction.ts";
import { acquireLanes } from "./queries/lanes/acquire.ts";
import { releaseLanes } from "./queries/lanes/release.ts";
import { waitingEvents } from "./queries/outbox/waiting.ts";
import { cancelOwed } from "./queries/queue/cancel.ts";
import { fetch } from "./queries/queue/fetch.ts";
import { giveBack } from "./queries/queue/give-back.ts";
import { oweAgain } from "./queries/queue/owe.ts";
import { recoverClaimed } from "./queries/queue/recover.ts";
import { settle } from "./queries/queue/settle.ts";
import { lockTenant, raiseRoutingVersion } from "./queries/tenants/lock.ts";
import { insertTenant } from "./queries/tenants/save.ts";
import { advanceTestClock, installTestClock } from "./queries/test-clock.ts";
import { bury, suspects } from "./queries/workers/bury.ts";
import { registerWorker, renewWorker } from "./queries/workers/register.ts";

const tenant = "acme";
const leaseMs = 15_000;
const minute = 60_000;
/** Real time goes on under the model's: less than this in one run, and no two times of the model are this close. */
const driftMs = 9_000;

let database: TestDatabase;
let pool: pg.Pool;
let db: Database;

beforeAll(async () => {
  database = await createDatabase();
  // what is proven here is not that commits reach the disk
  pool = createPool(database.connectionString, { max: 8, options: "-c synchronous_commit=off" });
  db = new Database({ database: pool, schema: "posthorn" });
  await migrate(db);
  await installTestClock(db);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

test("whatever happens in whatever order, deliveries live by the rules and none is lost", async () => {
  const seed = process.env.POSTHORN_SEED;
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 150, size: "max" }), async (commands) => {
      const world = await createWorld();
      await fc.asyncModelRun(async () => world, commands);
      await bringToAnEnd(world.model, world.real);
    }),
    {
      numRuns: Number(process.env.POSTHORN_RUNS ?? 60),
      endOnFailure: process.env.POSTHORN_SHRINK === undefined,
      ...(seed === undefined ? {} : { seed: Number(seed) }),
    },
  );
}, 50_000);

test("a lane that gets its first row during its owner's burial is made ready all the same", async () => {
  const { model, real } = await createWorld();
  const [dead, other] = model.processes as [Worker, Worker];
  const id = await ingestOne(db, real, dead, claim.ifGained);
  await settle(db, dead.id, [toSettlement(await claimedById(dead, id), "delivered")]);
  const burial = await db.transaction(async (tx) => {
    await ingestOne(tx, real, other, claim.none);
    const burying = bury(db, { id: dead.id, until: null });
    await untilSomebodyWaits();
    return { burying };
  });
  expect(await burial.burying).toMatchObject({ deliveries: 0, lanes: 1 });
  expect(await acquireLanes(db, other.id, 10)).toEqual([real.endpoints[0]]);
});

test("what a worker writes while it is being buried counts for nothing", async () => {
  const { model, real } = await createWorld();
  const [dead] = model.processes as [Worker];
  const id = await ingestOne(db, real, dead, claim.ifGained);
  const delivery = await claimedById(dead, id);
  // a lock on its lane keeps the burial open after the deliveries went back
  const late = await db.transaction(async (tx) => {
    await syncLanes(tx, real.endpoints);
    const burying = bury(db, { id: dead.id, until: null });
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

test("a worker in the middle of a write is not buried", async () => {
  const { model, real } = await createWorld();
  const [busy] = model.processes as [Worker];
  await db.transaction(async (tx) => {
    await ingestOne(tx, real, busy, claim.ifGained);
    expect(await bury(db, { id: busy.id, until: null })).toBeNull();
  });
  expect(await fetch(db, busy.id, [{ endpointId: real.endpoints[0] as Uuid, room: 5 }])).toEqual([]);
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
    outboxIds: [],
    deliveries: [{ id, eventId: event.id, endpointId, claim: how }],
    foreignLanes: how === claim.mine ? [] : [endpointId],
  });
  return written ? id : "not written";
}

async function claimedById(worker: Worker, id: Uuid): Promise<ClaimedDelivery> {
  const claimed = await recoverClaimed(db, worker.id, []);
  return claimed.find((delivery) => delivery.id === id) as ClaimedDelivery;
}

async function untilSomebodyWaits(count = 1): Promise<void> {
  await vi.waitUntil(async () => {
    const { rows } = await pool.query(
      `select count(*)::integer as waiting
       from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0].waiting >= count;
  });
}

// ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────

type State = "pending" | "in_flight" | "failed" | "success" | "dead";

interface Delivery {
  readonly id: Uuid;
  readonly endpoint: Uuid;
  state: State;
  claimedBy: number | null;
  /** What each attempt came to, and by whom. */
  readonly attempts: string[];
  failures: number;
  dueMs: number;
}

interface Lane {
  owner: number | null;
  readyMs: number | null;
  isPaused: boolean;
}

/** One process's memory; it does not know that it was buried. */
interface Worker {
  readonly id: number;
  readonly lanes: Set<Uuid>;
  readonly held: Map<Uuid, ClaimedDelivery>;
}

interface Model {
  nowMs: number;
  routingVersion: number;
  readonly deliveries: Map<Uuid, Delivery>;
  readonly lanes: Map<Uuid, Lane>;
  /** Registered ones, and when their leases end. */
  readonly leases: Map<number, number>;
  /** Three processes; a crashed one leaves its place empty. */
  readonly processes: (Worker | undefined)[];
  /** What buried workers still have in memory, and may say late. */
  readonly ghosts: Worker[];
  readonly events: Set<Uuid>;
  readonly outbox: Map<Uuid, readonly Uuid[]>;
  readonly keys: Map<string, Uuid>;
}

/** The real side: only what a step needs to compare with. */
interface World {
  readonly endpoints: readonly Uuid[];
  before: ReadonlyMap<Uuid, State>;
}

async function createWorld(): Promise<{ model: Model; real: World }> {
  for (const table of ["queue", "deliveries", "attempts", "events", "outbox", "idempotency_keys", "workers"])
    await pool.query(`delete from posthorn.${table}`);
  await pool.query("delete from posthorn.endpoints; delete from posthorn.tenants");
  await insertTenant(db, tenant);
  const endpoints = [uuidv7(), uuidv7(), uuidv7()];
  for (const id of endpoints) await insertEndpoint(db, id, tenant, endpointSettings);
  const { rows } = await pool.query("select routing_version::float8 as version from posthorn.tenants");
  const model: Model = {
    nowMs: 0,
    routingVersion: rows[0].version,
    deliveries: new Map(),
    lanes: new Map(endpoints.map((id) => [id, { owner: null, readyMs: null, isPaused: false }])),
    leases: new Map(),
    processes: [undefined, undefined, undefined],
    ghosts: [],
    events: new Set(),
    outbox: new Map(),
    keys: new Map(),
  };
  for (const slot of [0, 1, 2]) await startProcess(model, slot);
  return { model, real: { endpoints, before: new Map() } };
}

const endpointSettings = {
  url: "https://receiver.example/",
  description: null,
  events: ["*"],
  isActive: true,
  format: null,
  signature: null,
  headers: null,
  timeoutMs: null,
  maxInFlight: null,
  retryPolicy: null,
  retryOn: null,
};

async function startProcess(model: Model, slot: number): Promise<void> {
  const { id } = await registerWorker(db, { name: `process ${slot}`, leaseMs, holdsLifeLock: false });
  model.leases.set(id, model.nowMs + leaseMs);
  model.processes[slot] = { id, lanes: new Set(), held: new Map() };
}

const isAlive = (model: Model, worker: Worker): boolean => model.leases.has(worker.id);
const laneOf = (model: Model, endpoint: Uuid): Lane => model.lanes.get(endpoint) as Lane;

function owedIn(model: Model, endpoint: Uuid): Delivery[] {
  return [...model.deliveries.values()].filter(
    (delivery) =>
      delivery.endpoint === endpoint && (delivery.state === "pending" || delivery.state === "failed"),
  );
}

function firstDue(model: Model, endpoint: Uuid): number | null {
  const due = owedIn(model, endpoint).map((delivery) => delivery.dueMs);
  return due.length === 0 ? null : Math.min(...due);
}

function unclaim(delivery: Delivery): void {
  delivery.claimedBy = null;
  delivery.state = delivery.failures > 0 ? "failed" : "pending";
}

function freeLane(model: Model, endpoint: Uuid): void {
  const lane = laneOf(model, endpoint);
  lane.owner = null;
  lane.readyMs = firstDue(model, endpoint);
}

// ── the steps ────────────────────────────────────────────────────────────────────────────────────────────────────

type Step = fc.AsyncCommand<Model, World>;

function step(
  name: string,
  isPossible: (model: Model) => boolean,
  act: (model: Model, real: World) => Promise<void>,
): Step {
  return {
    check: isPossible,
    run: async (model, real) => {
      await act(model, real);
      await compare(model, real, name);
    },
    toString: () => name,
  };
}

/** A step of one process, whether it knows of its burial or not. */
function stepOf(
  slot: number,
  name: string,
  act: (worker: Worker, model: Model, real: World) => Promise<void>,
): Step {
  return step(
    `${name} by ${slot}`,
    (model) => model.processes[slot] !== undefined,
    (model, real) => act(model.processes[slot] as Worker, model, real),
  );
}

const slots = fc.nat(2);
const choice = fc.nat(1_000);
const mostly = fc.integer({ min: 0, max: 9 }).map((n) => n > 1);
const someKey = fc.nat(20).map((n) => (n < 4 ? n : null));
const endpointMask = fc.integer({ min: 1, max: 7 });

const publish: fc.Arbitrary<Step> = fc
  .record({
    slot: slots,
    mask: endpointMask,
    hasRoom: mostly,
    delivers: mostly,
    isFresh: mostly,
    key: someKey,
  })
  .map((input) =>
    stepOf(input.slot, `publish ${JSON.stringify(input)}`, async (worker, model, real) => {
      const key = input.key === null ? null : `key ${input.key}`;
      const event = newEvent();
      const known = key === null ? undefined : model.keys.get(key);
      const events = [{ event, endpoints: masked(real, input.mask) }];
      const written = await ingestAs(worker, model, events, {
        ...input,
        key,
        refuses: known !== undefined,
      });
      if (!written || known !== undefined) return;
      model.events.add(event.id);
      if (key !== null) model.keys.set(key, event.id);
    }),
  );

const publishInTransaction: fc.Arbitrary<Step> = fc
  .record({ mask: endpointMask, commits: fc.boolean(), key: someKey })
  .map((input) =>
    step(
      `publish in a transaction ${JSON.stringify(input)}`,
      () => true,
      async (model, real) => {
        const event = newEvent();
        const key = input.key === null ? null : `key ${input.key}`;
        const known = key === null ? undefined : model.keys.get(key);
        const stored = await publishInOwnTransaction(event, key, input.commits);
        expect(stored).toBe(`evt_${known ?? event.id}`);
        if (!input.commits || known !== undefined) return;
        model.events.add(event.id);
        model.outbox.set(event.id, masked(real, input.mask));
        if (key !== null) model.keys.set(key, event.id);
      },
    ),
  );

const relay: fc.Arbitrary<Step> = fc.record({ slot: slots, hasRoom: mostly, rival: slots }).map((input) =>
  stepOf(input.slot, `relay ${JSON.stringify(input)}`, async (worker, model) => {
    const waiting = await waitingEvents(db, 100);
    expect(new Set(waiting.map((event) => event.id))).toEqual(new Set(model.outbox.keys()));
    const events = waiting.map((event) => ({ event, endpoints: model.outbox.get(event.id) as Uuid[] }));
    const options = { hasRoom: input.hasRoom, delivers: true, isFresh: true, key: null, fromOutbox: true };
    const written = await ingestAs(worker, model, events, { ...options, refuses: false });
    if (written) model.outbox.clear();
    // another process that read the same rows comes too late
    const rival = model.processes[input.rival];
    if (written && rival !== undefined) await ingestAs(rival, model, events, { ...options, refuses: true });
  }),
);

const acquire: fc.Arbitrary<Step> = fc
  .record({ slot: slots, limit: fc.integer({ min: 1, max: 3 }) })
  .map(({ slot, limit }) =>
    stepOf(slot, `acquire up to ${limit}`, async (worker, model) => {
      const ready = [...model.lanes].filter(
        ([, lane]) => lane.owner === null && !lane.isPaused && isReached(model, lane.readyMs),
      );
      const taken = await acquireLanes(db, worker.id, limit);
      expect(taken).toHaveLength(isAlive(model, worker) ? Math.min(limit, ready.length) : 0);
      for (const endpoint of taken) {
        expect(ready.map(([id]) => id)).toContain(endpoint);
        Object.assign(laneOf(model, endpoint), { owner: worker.id, readyMs: null });
        worker.lanes.add(endpoint);
      }
    }),
  );

const fetchOwed: fc.Arbitrary<Step> = fc
  .record({ slot: slots, room: fc.integer({ min: 1, max: 4 }) })
  .map(({ slot, room }) =>
    stepOf(slot, `fetch ${room} of each lane`, async (worker, model, real) => {
      const fetched = await fetch(
        db,
        worker.id,
        real.endpoints.map((endpointId) => ({ endpointId, room })),
      );
      for (const endpoint of real.endpoints) {
        const owns = laneOf(model, endpoint).owner === worker.id;
        const due = owedIn(model, endpoint).filter((delivery) => isReached(model, delivery.dueMs));
        const brought = fetched.filter(({ delivery }) => delivery.endpointId === endpoint);
        expect(brought).toHaveLength(owns ? Math.min(room, due.length) : 0);
        for (const { delivery } of brought) expect(due.map(({ id }) => id)).toContain(delivery.id);
      }
      for (const { delivery } of fetched) takeClaimed(model, worker, delivery);
    }),
  );

const settleHeld: fc.Arbitrary<Step> = fc
  .record({
    slot: slots,
    ends: fc.array(fc.constantFrom<End>("delivered", "retry", "long retry", "dead"), {
      minLength: 1,
      maxLength: 6,
    }),
  })
  .map(({ slot, ends }) =>
    stepOf(slot, `settle ${ends.join(", ")}`, async (worker, model) => {
      await settleAs(worker, model, ends);
    }),
  );

const settleLate: fc.Arbitrary<Step> = choice.map((n) =>
  step(
    `late word ${n}`,
    (model) => ghostsOf(model).length > 0,
    async (model) => {
      const ghosts = ghostsOf(model);
      const ghost = ghosts[n % ghosts.length] as Worker;
      if (n % 3 > 0) await settleAs(ghost, model, ["delivered", "retry", "dead"]);
      else await giveBackAs(ghost, model, 3);
    },
  ),
);

/** Buried, and with something left to say. */
function ghostsOf(model: Model): Worker[] {
  const workers = [...model.ghosts, ...model.processes.filter((worker) => worker !== undefined)];
  return workers.filter((worker) => !isAlive(model, worker) && worker.held.size > 0);
}

const crash: fc.Arbitrary<Step> = slots.map((slot) =>
  step(
    `crash of ${slot}`,
    (model) => model.processes[slot] !== undefined,
    async (model) => {
      model.processes[slot] = undefined;
    },
  ),
);

const start: fc.Arbitrary<Step> = slots.map((slot) =>
  step(
    `start of ${slot}`,
    (model) => model.processes[slot] === undefined,
    (model) => startProcess(model, slot),
  ),
);

const renew: fc.Arbitrary<Step> = slots.map((slot) =>
  stepOf(slot, "renewal", async (worker, model) => {
    const [before] = (await suspects(db, 0, "posthorn", 0)).filter(({ id }) => id === worker.id);
    const renewed = await renewWorker(db, worker.id, leaseMs);
    expect(renewed !== null).toBe(isAlive(model, worker));
    if (renewed === null) {
      model.ghosts.push(worker);
      await startProcess(model, slot);
      return;
    }
    model.leases.set(worker.id, model.nowMs + leaseMs);
    // who looked before the renewal may not bury after it
    expect(await bury(db, { id: worker.id, until: before?.until as number })).toBeNull();
  }),
);

const stall: fc.Arbitrary<Step> = slots.map((slot) =>
  step(
    `stall of ${slot} past its lease`,
    () => true,
    async (model) => {
      await advance(model, 20_000);
      for (const [other, worker] of model.processes.entries()) {
        if (worker === undefined || other === slot || !isAlive(model, worker)) continue;
        await renewWorker(db, worker.id, leaseMs);
        model.leases.set(worker.id, model.nowMs + leaseMs);
      }
      await buryTheDead(model);
    },
  ),
);

const giveHeldBack: fc.Arbitrary<Step> = fc
  .record({ slot: slots, count: fc.integer({ min: 1, max: 3 }) })
  .map(({ slot, count }) =>
    stepOf(slot, `give back ${count}`, (worker, model) => giveBackAs(worker, model, count)),
  );

async function giveBackAs(worker: Worker, model: Model, count: number): Promise<void> {
  const ids = [...worker.held.keys()].slice(0, count);
  await giveBack(db, worker.id, ids);
  for (const id of ids) {
    worker.held.delete(id);
    if (isAlive(model, worker)) unclaim(model.deliveries.get(id) as Delivery);
  }
}

const release: fc.Arbitrary<Step> = slots.map((slot) =>
  stepOf(slot, "release", async (worker, model) => {
    const busy = new Set([...worker.held.values()].map((delivery) => delivery.endpointId));
    const idle = [...worker.lanes].filter((endpoint) => !busy.has(endpoint));
    const released = await releaseLanes(db, worker.id, idle);
    expect(released).toEqual(new Set(isAlive(model, worker) ? idle : []));
    for (const endpoint of released) {
      worker.lanes.delete(endpoint);
      freeLane(model, endpoint);
    }
  }),
);

const advanceClock: fc.Arbitrary<Step> = fc.constantFrom(20_000, 1.1 * minute, 11 * minute).map((ms) =>
  step(
    `advance by ${ms / 1_000} s`,
    () => true,
    (model) => advance(model, ms),
  ),
);

const retryByHand: fc.Arbitrary<Step> = choice.map((n) =>
  step(
    `retry by hand of ${n}`,
    () => true,
    async (model) => {
      const all = [...model.deliveries.values()];
      const delivery = all[n % (all.length + 1)];
      const result = await oweAgain(db, delivery?.id ?? randomUUID());
      if (delivery === undefined) expect(result).toEqual({ kind: "not_found" });
      else if (delivery.state === "in_flight") expect(result).toEqual({ kind: "in_flight" });
      else {
        const lane = laneOf(model, delivery.endpoint);
        expect(result).toEqual({ kind: "owed", endpointId: delivery.endpoint, owner: lane.owner });
        if (lane.owner === null) lane.readyMs = Math.min(lane.readyMs ?? model.nowMs, model.nowMs);
        Object.assign(delivery, { state: "pending", failures: 0, dueMs: model.nowMs });
      }
    },
  ),
);

const pauseOrUnpause: fc.Arbitrary<Step> = fc.nat(2).map((n) =>
  step(
    `pause or unpause ${n}`,
    () => true,
    (model, real) => togglePause(model, real.endpoints[n] as Uuid),
  ),
);

const discard: fc.Arbitrary<Step> = fc.nat(9).map((n) =>
  step(
    `discard ${n}`,
    () => n < 3,
    async (model, real) => {
      const endpoint = real.endpoints[n] as Uuid;
      const owed = owedIn(model, endpoint);
      expect(await cancelOwed(db, [endpoint], "discarded")).toBe(owed.length);
      for (const delivery of owed) delivery.state = "dead";
    },
  ),
);

/** Each as often as it stands here: sending is what workers do all day. */
const steps = [
  ...[publish, publish, publish, publish, publish, publish, publishInTransaction, publishInTransaction],
  ...[relay, relay, acquire, acquire, acquire, release, giveHeldBack],
  ...[fetchOwed, fetchOwed, fetchOwed, fetchOwed, fetchOwed],
  ...[settleHeld, settleHeld, settleHeld, settleHeld, settleHeld, settleHeld, settleLate],
  ...[crash, start, start, start, start, renew, renew, stall, stall],
  ...[advanceClock, advanceClock, retryByHand, retryByHand, pauseOrUnpause, discard],
];

function masked(real: World, mask: number): Uuid[] {
  return real.endpoints.filter((_, i) => (mask >> i) % 2 === 1);
}

function isReached(model: Model, ms: number | null): boolean {
  return ms !== null && ms <= model.nowMs;
}

function newEvent(): Event {
  return {
    id: uuidv7(),
    tenant,
    type: "order.paid",
    apiVersion: "1",
    subject: null,
    sequence: null,
    payload: Buffer.from("{}"),
    createdAt: new Date(),
  };
}

/** Every event here says the same. */
const digestOfAll = hash("sha256", "order.paid\n1\n\n{}", "buffer");

async function publishInOwnTransaction(event: Event, key: string | null, commits: boolean): Promise<string> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const values = [tenant, event.type, "{}", null, "1", key, `evt_${event.id}`];
    const { rows } = await client.query(publishStatement.text, values);
    await client.query(commits ? "commit" : "rollback");
    return rows[0].id;
  } finally {
    client.release();
  }
}

interface IngestOptions {
  readonly hasRoom: boolean;
  readonly delivers: boolean;
  readonly isFresh: boolean;
  readonly key: string | null;
  readonly refuses: boolean;
  readonly fromOutbox?: boolean;
}

/** As the fan-out does it: planned by what the process remembers, decided by the statement. */
async function ingestAs(
  worker: Worker,
  model: Model,
  batch: readonly { readonly event: Event; readonly endpoints: readonly Uuid[] }[],
  { hasRoom, delivers, isFresh, key, refuses, fromOutbox = false }: IngestOptions,
): Promise<boolean> {
  const plan = batch.flatMap(({ event, endpoints }) =>
    endpoints.map((endpointId) => {
      const mayClaim = hasRoom && !laneOf(model, endpointId).isPaused;
      const isForeign = !worker.lanes.has(endpointId);
      const wanted = isForeign ? (delivers ? claim.ifGained : claim.none) : claim.mine;
      return {
        id: uuidv7(),
        event,
        eventId: event.id,
        endpointId,
        isForeign,
        claim: mayClaim ? wanted : claim.none,
      };
    }),
  );
  const foreignLanes = [...new Set(plan.filter((row) => row.isForeign).map((row) => row.endpointId))];
  const ids = batch.map(({ event }) => event.id);
  const result = await ingest(db, {
    workerId: worker.id,
    delivers,
    routes: new Map([[tenant, model.routingVersion - (isFresh ? 0 : 1)]]),
    events: fromOutbox ? [] : batch.map(({ event }) => event),
    keys: key === null ? [] : ids.map((eventId) => ({ tenant, key, eventId, digest: digestOfAll })),
    outboxIds: fromOutbox ? ids : [],
    deliveries: plan,
    foreignLanes,
  });
  expect(result.written).toBe(isFresh && isAlive(model, worker));
  expect(result.staleTenants).toEqual(isFresh ? [] : [tenant]);
  if (!result.written) return false;
  expect(new Set(result.refusedEventIds)).toEqual(new Set(refuses ? ids : []));
  foretellLanes(worker, model, plan, foreignLanes, result);
  if (refuses) return true;
  for (const row of plan) {
    const isBornClaimed =
      row.claim === claim.mine ||
      (row.claim === claim.ifGained && result.gainedLanes.includes(row.endpointId));
    model.deliveries.set(row.id, {
      id: row.id,
      endpoint: row.endpointId,
      state: "pending",
      claimedBy: null,
      attempts: [],
      failures: 0,
      dueMs: model.nowMs,
    });
    if (isBornClaimed)
      takeClaimed(model, worker, { ...row, attempts: 0, failures: 0, ageMs: 0, trigger: "event" });
  }
  return true;
}

function foretellLanes(
  worker: Worker,
  model: Model,
  plan: readonly QueuedDelivery[],
  foreignLanes: readonly Uuid[],
  result: IngestResult,
): void {
  const foretold = { gained: new Set<Uuid>(), others: new Map<Uuid, number>(), ready: new Set<Uuid>() };
  for (const endpoint of foreignLanes) {
    const lane = laneOf(model, endpoint);
    const isWanted = plan.some((row) => row.endpointId === endpoint && row.claim === claim.ifGained);
    if (lane.owner !== null) {
      if (lane.owner !== worker.id) foretold.others.set(endpoint, lane.owner);
    } else if (lane.readyMs === null && !lane.isPaused && isWanted) {
      foretold.gained.add(endpoint);
      lane.owner = worker.id;
      worker.lanes.add(endpoint);
    } else {
      foretold.ready.add(endpoint);
      lane.readyMs = Math.min(lane.readyMs ?? model.nowMs, model.nowMs);
    }
  }
  expect({
    gained: new Set(result.gainedLanes),
    others: result.otherOwners,
    ready: new Set(result.readyLanes),
  }).toEqual(foretold);
}

function takeClaimed(model: Model, worker: Worker, claimed: ClaimedDelivery): void {
  const delivery = model.deliveries.get(claimed.id) as Delivery;
  expect(delivery.claimedBy, "one owner of a delivery at a time").toBeNull();
  expect(claimed).toMatchObject({ attempts: delivery.attempts.length, failures: delivery.failures });
  Object.assign(delivery, { state: "in_flight", claimedBy: worker.id });
  worker.held.set(claimed.id, claimed);
}

type End = "delivered" | "retry" | "long retry" | "dead";

async function settleAs(worker: Worker, model: Model, ends: readonly End[]): Promise<void> {
  const held = [...worker.held.values()].slice(0, ends.length);
  const settlements = held.map((delivery, i) => toSettlement(delivery, ends[i] as End));
  const settled = await settle(db, worker.id, settlements);
  expect(settled).toEqual(new Set(isAlive(model, worker) ? held.map((delivery) => delivery.id) : []));
  for (const [i, { id }] of held.entries()) {
    worker.held.delete(id);
    if (!settled.has(id)) continue;
    const delivery = model.deliveries.get(id) as Delivery;
    delivery.attempts.push(`answered ${worker.id}`);
    delivery.claimedBy = null;
    const end = ends[i] as End;
    if (end === "delivered") delivery.state = "success";
    else if (end === "dead") delivery.state = "dead";
    else {
      delivery.failures += 1;
      delivery.state = "failed";
      delivery.dueMs = model.nowMs + delays[end];
    }
  }
}

const delays = { retry: minute, "long retry": 10 * minute };

function toSettlement(delivery: ClaimedDelivery, end: End): Settlement {
  return {
    delivery,
    startedAt: new Date(),
    outcome: {
      kind: "answered",
      statusCode: end === "delivered" ? 200 : 500,
      responseBody: Buffer.from("said"),
      retryAfter: null,
      durationMs: 1,
    },
    decision:
      end === "delivered"
        ? { kind: "delivered" }
        : end === "dead"
          ? { kind: "dead", reason: "rejected", disableEndpoint: false }
          : { kind: "retry", delayMs: delays[end] },
  };
}

async function advance(model: Model, ms: number): Promise<void> {
  await advanceTestClock(db, ms);
  model.nowMs += ms;
}

async function buryTheDead(model: Model): Promise<void> {
  const ended = (await suspects(db, 0, "posthorn", 0)).filter((suspect) => suspect.leaseEnded);
  const foretold = [...model.leases].filter(([, until]) => until < model.nowMs).map(([id]) => id);
  expect(new Set(ended.map(({ id }) => id))).toEqual(new Set(foretold));
  for (const suspect of ended) {
    const claimed = [...model.deliveries.values()].filter(({ claimedBy }) => claimedBy === suspect.id);
    const lanes = [...model.lanes].filter(([, lane]) => lane.owner === suspect.id);
    expect(await bury(db, suspect)).toEqual({
      workerId: suspect.id,
      deliveries: claimed.length,
      lanes: lanes.length,
    });
    for (const delivery of claimed) {
      // it may have been sent: recorded, and not counted as a failure
      delivery.attempts.push(`unknown ${suspect.id}`);
      unclaim(delivery);
    }
    for (const [endpoint] of lanes) freeLane(model, endpoint);
    model.leases.delete(suspect.id);
  }
}

async function togglePause(model: Model, endpoint: Uuid): Promise<void> {
  const lane = laneOf(model, endpoint);
  const owners = await db.transaction(async (tx) => {
    await lockTenant(tx, tenant);
    await lockEndpoint(tx, tenant, endpoint);
    await updateEndpoint(tx, endpoint, { ...endpointSettings, isActive: lane.isPaused });
    await raiseRoutingVersion(tx, tenant);
    return await syncLanes(tx, [endpoint]);
  });
  expect(owners.get(endpoint)).toBe(lane.owner);
  model.routingVersion += 1;
  lane.isPaused = !lane.isPaused;
  lane.readyMs = lane.owner === null ? firstDue(model, endpoint) : null;
}

/** All that ever was is buried, a new process goes on, receivers are well: everything owed must come to its end. */
async function bringToAnEnd(model: Model, real: World): Promise<void> {
  for (const [endpoint, lane] of model.lanes) if (lane.isPaused) await togglePause(model, endpoint);
  await advance(model, 11 * minute);
  await buryTheDead(model);
  await startProcess(model, 0);
  const worker = model.processes[0] as Worker;
  const waiting = await waitingEvents(db, 1_000);
  const events = waiting.map((event) => ({ event, endpoints: model.outbox.get(event.id) as Uuid[] }));
  const options = {
    hasRoom: true,
    delivers: true,
    isFresh: true,
    key: null,
    refuses: false,
    fromOutbox: true,
  };
  await ingestAs(worker, model, events, options);
  model.outbox.clear();
  for (const endpoint of await acquireLanes(db, worker.id, 10)) {
    Object.assign(laneOf(model, endpoint), { owner: worker.id, readyMs: null });
    worker.lanes.add(endpoint);
  }
  const turns = real.endpoints.map((endpointId) => ({ endpointId, room: 1_000 }));
  for (const { delivery } of await fetch(db, worker.id, turns)) takeClaimed(model, worker, delivery);
  await settleAs(worker, model, Array(worker.held.size).fill("delivered"));
  await compare(model, real, "the end");
  const unfinished = [...model.deliveries.values()].filter(
    ({ state }) => state !== "success" && state !== "dead",
  );
  expect(unfinished).toEqual([]);
}

// ── the comparison ───────────────────────────────────────────────────────────────────────────────────────────────

const born = ["pending", "in_flight"];
/** From → to. Leaving success or dead takes a retry by hand, ending without an attempt takes a discard. */
const transitions: Record<State, readonly string[]> = {
  pending: ["in_flight"],
  in_flight: ["pending", "failed", "success", "dead"],
  failed: ["in_flight"],
  success: [],
  dead: [],
};
const transitionsBy: Record<string, Partial<Record<State, readonly string[]>>> = {
  retry: { failed: ["pending"], success: ["pending"], dead: ["pending"] },
  discard: { pending: ["dead"], failed: ["dead"] },
  // the same process gives back and fetches in one step of the model's end
  the: { pending: ["success"], failed: ["success"] },
};

interface Snapshot {
  readonly deliveries: {
    id: Uuid;
    endpoint: Uuid;
    state: State;
    claimedBy: number | null;
    failures: number;
    dueIn: number | null;
    attempts: number;
  }[];
  readonly lanes: { id: Uuid; owner: number | null; readyIn: number | null; paused: boolean }[];
  readonly workers: number[];
  readonly attempts: { id: Uuid; numbers: number[]; ends: string[] }[];
  readonly events: Uuid[];
  readonly outbox: Uuid[];
}

async function compare(model: Model, real: World, stepName: string): Promise<void> {
  const { rows } = await pool.query<{ snapshot: Snapshot }>(snapshotText);
  const { snapshot } = rows[0] as { snapshot: Snapshot };
  checkInvariants(snapshot);
  checkTransitions(snapshot, real, stepName);
  compareDeliveries(snapshot, model);
  const lanes = snapshot.lanes.map(({ id, owner, paused, readyIn }) => [
    id,
    { owner, isPaused: paused, isReady: readyIn !== null },
  ]);
  expect(Object.fromEntries(lanes)).toEqual(
    Object.fromEntries(
      [...model.lanes].map(([id, { owner, isPaused, readyMs }]) => [
        id,
        { owner, isPaused, isReady: readyMs !== null },
      ]),
    ),
  );
  for (const { id, readyIn } of snapshot.lanes) expectNear(readyIn, laneOf(model, id).readyMs, model);
  expect(new Set(snapshot.workers)).toEqual(new Set(model.leases.keys()));
  // rolled back means: never existed
  expect(new Set(snapshot.events)).toEqual(model.events);
  expect(new Set(snapshot.outbox)).toEqual(new Set(model.outbox.keys()));
}

/** What must be true of the tables by themselves, whatever the model thinks. */
function checkInvariants({ deliveries, lanes, workers, attempts }: Snapshot): void {
  expect(new Set(deliveries.map(({ id }) => id)).size, "in queue or history exactly once").toBe(
    deliveries.length,
  );
  const laneById = new Map(lanes.map((lane) => [lane.id, lane]));
  for (const lane of lanes) if (lane.owner !== null) expect(workers).toContain(lane.owner);
  for (const { endpoint, claimedBy, dueIn } of deliveries) {
    const lane = laneById.get(endpoint) as Snapshot["lanes"][number];
    if (claimedBy !== null) expect(claimedBy, "only the lane's owner holds its rows").toBe(lane.owner);
    if (dueIn === null || lane.owner !== null || lane.paused) continue;
    expect(lane.readyIn, "a row in a lane that nobody owns and nobody looks at").not.toBeNull();
    expect(lane.readyIn).toBeLessThanOrEqual(dueIn);
  }
  const counts = new Map(deliveries.map(({ id, attempts }) => [id, attempts]));
  for (const { id, numbers } of attempts)
    expect(numbers).toEqual(Array.from({ length: counts.get(id) ?? 0 }, (_, i) => i + 1));
}

function checkTransitions(snapshot: Snapshot, real: World, stepName: string): void {
  const more = transitionsBy[stepName.split(" ", 1)[0] as string] ?? {};
  const after = new Map(snapshot.deliveries.map(({ id, state }) => [id, state]));
  for (const [id, state] of after) {
    const from = real.before.get(id);
    if (from === state) continue;
    const allowed =
      from === undefined
        ? [...born, ...(stepName === "the end" ? ["success"] : [])]
        : [...transitions[from], ...(more[from] ?? [])];
    expect(allowed, `${from ?? "nothing"} to ${state} by "${stepName}"`).toContain(state);
  }
  for (const id of real.before.keys()) expect(after.has(id), "a delivery is never lost").toBe(true);
  real.before = after;
}

function compareDeliveries(snapshot: Snapshot, model: Model): void {
  const ends = new Map(snapshot.attempts.map((row) => [row.id, row.ends]));
  const actual = snapshot.deliveries.map(({ id, endpoint, state, claimedBy, failures }) => [
    id,
    { endpoint, state, claimedBy, failures, attempts: ends.get(id) ?? [] },
  ]);
  const foretold = [...model.deliveries.values()].map(
    ({ id, endpoint, state, claimedBy, failures, attempts }) => [
      id,
      {
        endpoint,
        state,
        claimedBy,
        failures: state === "success" || state === "dead" ? 0 : failures,
        attempts,
      },
    ],
  );
  expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(foretold));
  for (const { id, dueIn, claimedBy } of snapshot.deliveries)
    if (dueIn !== null && claimedBy === null)
      expectNear(dueIn, (model.deliveries.get(id) as Delivery).dueMs, model);
}

function expectNear(actualIn: number | null, foretoldMs: number | null, model: Model): void {
  if (actualIn === null || foretoldMs === null) return;
  expect(Math.abs(actualIn - (foretoldMs - model.nowMs))).toBeLessThan(driftMs);
}

const snapshotText = `
select json_build_object(
  'deliveries', coalesce((
    select json_agg(json_build_object(
      'id', d.id, 'endpoint', d.endpoint_id, 'state', d.state, 'attempts', d.attempts, 'claimedBy', q.claimed_by,
      'failures', coalesce(q.failures, 0),
      'dueIn', posthorn.epoch_ms(q.next_at) - posthorn.epoch_ms(posthorn.now())))
    from posthorn.delivery_states d
    left join posthorn.queue q on q.id = d.id), '[]'),
  'lanes', (
    select json_agg(json_build_object(
      'id', l.endpoint_id, 'owner', l.owner, 'paused', l.paused,
      'readyIn', posthorn.epoch_ms(l.ready_at) - posthorn.epoch_ms(posthorn.now())))
    from posthorn.lanes l),
  'workers', coalesce((select json_agg(w.id) from posthorn.workers w), '[]'),
  'attempts', coalesce((
    select json_agg(list)
    from (
      select a.delivery_id as id, json_agg(a.number order by a.number) as numbers,
        json_agg(coalesce(a.error, 'answered') || ' ' || a.worker order by a.number) as ends
      from posthorn.attempts a
      group by a.delivery_id
    ) list), '[]'),
  'events', coalesce((select json_agg(e.id) from posthorn.events e), '[]'),
  'outbox', coalesce((select json_agg(o.event_id) from posthorn.outbox o), '[]')
) as snapshot
`;
