// Random publishes, claims, settlements, crashes, reaping and manual retries against the real statements. After every
// step the tables must keep their invariants and agree with what the workers remember. A failure prints its seed:
// POSTHORN_SEED=<seed> repeats it, with POSTHORN_SHRINK=1 until it is small.
import { hash, randomUUID } from "node:crypto";
import { lowestUuidAt, parseId, uuidTimeMs, uuidv7 } from "@posthorn/wire";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import {
  addEndpoint,
  addWorker,
  type End,
  endpointSettings,
  leaseMs,
  minute,
  newEvent,
  openQueue,
  retryDelays,
  startAnew,
  tenant,
  toSettlement,
} from "../../../../tests/support/database/queue-world.ts";
import { isQuick } from "../../../../tests/support/matrix.ts";
import type { AttemptTrigger, ClaimBatch, ClaimedDelivery, Event, Uuid } from "../model.ts";
import type { DirectConnection } from "./database.ts";
import { lockEndpoint } from "./queries/endpoints/read.ts";
import { syncLanes } from "./queries/endpoints/sync-lanes.ts";
import { updateEndpoint } from "./queries/endpoints/write.ts";
import { claim, type IngestBatch, type IngestResult, ingest } from "./queries/events/ingest.ts";
import { publishStatement } from "./queries/events/publish-in-transaction.ts";
import { isPlain, write, writtenPlain } from "./queries/events/write.ts";
import { claimLanes } from "./queries/lanes/claim.ts";
import { releaseLanes } from "./queries/lanes/release.ts";
import { waitingEvents } from "./queries/outbox.ts";
import { cancelQueued } from "./queries/queue/cancel.ts";
import { addAllQueueRows, addQueueRows } from "./queries/queue/event-claims.ts";
import { fetch } from "./queries/queue/fetch.ts";
import { releaseDeliveries } from "./queries/queue/release.ts";
import { requeueDelivery } from "./queries/queue/requeue.ts";
import { isFirstSuccess, settle } from "./queries/queue/settle.ts";
import { incrementRoutingVersion, lockTenant } from "./queries/tenants.ts";
import { advanceTestClock } from "./queries/test-clock.ts";
import { otherWorkers, reap } from "./queries/workers/reap.ts";
import { renewWorker } from "./queries/workers/register.ts";

const queue = openQueue();
let connection: DirectConnection;
beforeAll(async () => {
  connection = await queue.db.connect();
  return () => connection.close();
});

/** Each as often as it is listed: workers mostly send. */
const kinds = [
  ...["publish", "publish", "publish", "publish", "publish", "publish", "relay", "relay"],
  ...["publish in transaction", "publish in transaction", "claim", "claim", "claim", "release"],
  ...["fetch", "fetch", "fetch", "fetch", "fetch", "release deliveries", "add queue rows", "settle late"],
  ...["settle", "settle", "settle", "settle", "settle", "settle", "renew", "renew", "stall", "stall"],
  ...["start", "start", "start", "advance", "advance", "retry", "retry", "pause", "discard"],
] as const;

const anyStep = fc
  .record({
    kind: fc.constantFrom(...kinds),
    slot: fc.nat(2),
    count: fc.integer({ min: 1, max: 4 }),
    choice: fc.nat(1_000),
    /** Which of the three endpoints an event is for. */
    mask: fc.integer({ min: 1, max: 7 }),
    key: fc.nat(20).map((n) => (n < 4 ? `key ${n}` : null)),
    ends: fc.array(fc.constantFrom<End>("delivered", "retry", "long retry", "dead"), {
      minLength: 1,
      maxLength: 6,
    }),
    hasCapacity: mostly(),
    delivers: mostly(),
    isFresh: mostly(),
  })
  .map((step) => ({ ...step, [fc.toStringMethod]: () => `${step.kind} by ${step.slot}` }));
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

function mostly(): fc.Arbitrary<boolean> {
  return fc.integer({ min: 0, max: 9 }).map((n) => n > 1);
}

test("any sequence of steps keeps deliveries in valid states and loses none", async () => {
  const seed = process.env.POSTHORN_SEED;
  const run = async (steps: readonly Step[]) => {
    const life = await createLife();
    for (const step of steps) await life.take(step);
    await life.bringToAnEnd();
  };
  let lastRun = Promise.resolve();
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 150, size: "max" }), async (steps) => {
      lastRun = run(steps);
      await lastRun;
    }),
    {
      numRuns: Number(process.env.POSTHORN_RUNS ?? (isQuick ? 6 : 30)),
      interruptAfterTimeLimit: 60_000, // fewer runs on a busy machine
      endOnFailure: process.env.POSTHORN_SHRINK === undefined,
      ...(seed === undefined ? {} : { seed: Number(seed) }),
    },
  );
  // a run that was interrupted continues, and would lose its database
  await lastRun;
}, 120_000);

type State = "pending" | "in_flight" | "failed" | "success" | "dead";

interface Delivery {
  /** How each attempt ended, by whom, and why it was made. */
  readonly attempts: string[];
  /** Why the next attempt is made. */
  trigger: AttemptTrigger;
  failures: number;
  /** The database's time at the start of the step that set it. */
  dueMs: number;
  /** `dueMs` at the last check, and how long the step that set it took. */
  checked?: { readonly dueMs: number; readonly tookMs: number };
}

/** The memory of one process. It does not know that it was reaped. */
interface Worker {
  readonly id: number;
  isAlive: boolean;
  readonly lanes: Set<Uuid>;
  readonly held: Map<Uuid, ClaimedDelivery>;
}

async function createLife() {
  const { db, pool } = queue;
  await startAnew(queue);
  const endpoints = [await addEndpoint(db), await addEndpoint(db), await addEndpoint(db)];
  const workers: Worker[] = [];
  const slots: Worker[] = [];
  const deliveries = new Map<Uuid, Delivery>();
  const events = new Set<Uuid>();
  const keys = new Map<string, Uuid>();
  const paused = new Set<Uuid>();
  /** As of the end of the last step. */
  let before = {} as Snapshot;
  /** The database's time at the start of the step, with what the step has advanced it by. */
  let nowMs = 0;
  for (const slot of [0, 1, 2]) await start(slot);
  before = await snapshot();
  nowMs = before.atMs;

  async function start(slot: number): Promise<Worker> {
    const worker = { id: await addWorker(db), isAlive: true, lanes: new Set<Uuid>(), held: new Map() };
    workers.push(worker);
    slots[slot] = worker;
    return worker;
  }

  async function advance(ms: number): Promise<void> {
    await advanceTestClock(db, ms);
    nowMs += ms;
  }

  /** Plans by what the process remembers, like the fan-out; the statement decides. */
  async function ingestAs(
    worker: Worker,
    batch: readonly Event[],
    { mask, key, hasCapacity, delivers, isFresh }: Step,
    { fromOutbox = false, isRefused = false } = {},
  ): Promise<boolean> {
    const plan = batch.flatMap((event) =>
      endpoints
        .filter((_, index) => (mask >> index) % 2 === 1)
        .map((endpointId) => {
          const wanted = worker.lanes.has(endpointId) ? claim.mine : delivers ? claim.ifGained : claim.none;
          const how = hasCapacity && !paused.has(endpointId) ? wanted : claim.none;
          const rest = { claim: how, isOrdered: false, claimBatch: null as ClaimBatch | null };
          const id = uuidv7(uuidTimeMs(event.id));
          return { id, event, eventId: event.id, endpointId, ...rest };
        }),
    );
    const foreignLanes = endpoints.filter(
      (id) => !worker.lanes.has(id) && plan.some(({ endpointId }) => endpointId === id),
    );
    const ids = batch.map(({ id }) => id);
    const result = await store({
      workerId: worker.id,
      delivers,
      routes: new Map([[tenant, before.routingVersion - (isFresh ? 0 : 1)]]),
      events: fromOutbox ? [] : batch,
      keys: key === null ? [] : ids.map((eventId) => ({ tenant, key, eventId, digest })),
      outbox: fromOutbox ? batch : [],
      deliveries: plan,
      collected: [],
      foreignLanes,
      peerLanes: new Map(),
    });
    expect(result.written).toBe(isFresh && worker.isAlive);
    expect(result.staleTenants).toEqual(isFresh ? [] : [tenant]);
    if (!result.written) return false;
    expect(new Set(result.refusedEventIds)).toEqual(new Set(isRefused ? ids : []));
    for (const { id, owner, readyIn } of before.lanes.filter((lane) => foreignLanes.includes(lane.id))) {
      const isWanted = plan.some((row) => row.endpointId === id && row.claim === claim.ifGained);
      const isGained = owner === null && readyIn === null && !paused.has(id) && isWanted;
      expect(result.gainedLanes.has(id)).toBe(isGained);
      expect(result.otherOwners.get(id) ?? null).toBe(owner);
      expect(result.readyLanes.includes(id)).toBe(owner === null && !isGained);
      if (isGained) worker.lanes.add(id);
    }
    if (isRefused) return true;
    for (const row of plan) {
      deliveries.set(row.id, { attempts: [], trigger: "event", failures: 0, dueMs: nowMs });
      const isClaimed =
        row.claim === claim.mine || (row.claim === claim.ifGained && worker.lanes.has(row.endpointId));
      if (isClaimed)
        hold(worker, { ...row, attempts: 0, failures: 0, scheduleStartedMs: 0, trigger: "event" });
    }
    return true;
  }

  /** Like the write loop: the common case has a statement of its own. */
  async function store(batch: IngestBatch): Promise<IngestResult> {
    const isWritten = isPlain(batch) && (await write(connection, batch.workerId, batch, [])).areEventsWritten;
    if (!isWritten) return await ingest(db, batch);
    for (const delivery of batch.deliveries)
      if (delivery.claim === claim.mine) delivery.claimBatch = claimBatch;
    return writtenPlain;
  }

  function hold(worker: Worker, claimed: ClaimedDelivery): void {
    const { attempts, failures, trigger } = deliveries.get(claimed.id) as Delivery;
    expect(claimed).toMatchObject({ attempts: attempts.length, failures, trigger });
    worker.held.set(claimed.id, claimed);
  }

  async function settleAs(worker: Worker, ends: readonly End[]): Promise<void> {
    const held = [...worker.held.values()].slice(0, ends.length);
    const settlements = held.map((delivery, index) => toSettlement(delivery, ends[index] as End));
    const refused = settlements.every(isFirstSuccess)
      ? (await write(connection, worker.id, null, settlements)).refusedIds
      : await settle(db, worker.id, settlements);
    expect(refused).toEqual(new Set(worker.isAlive ? [] : held.map(({ id }) => id)));
    for (const [index, { id, trigger }] of held.entries()) {
      worker.held.delete(id);
      if (!worker.isAlive) continue;
      const delivery = deliveries.get(id) as Delivery;
      delivery.attempts.push(`answered ${worker.id} ${trigger}`);
      const end = ends[index] as End;
      if (end === "delivered" || end === "dead") continue;
      const dueMs = nowMs + retryDelays[end];
      Object.assign(delivery, { failures: delivery.failures + 1, trigger: "retry", dueMs });
    }
  }

  async function releaseAs(worker: Worker, count: number): Promise<void> {
    const released = [...worker.held.values()].slice(0, count);
    await addQueueRows(
      db,
      worker.id,
      released.filter(({ claimBatch }) => claimBatch !== null),
    );
    const ids = released.map(({ id }) => id);
    await releaseDeliveries(db, worker.id, ids);
    for (const id of ids) worker.held.delete(id);
  }

  /** A settlement that was sent before and arrives late settles nothing. */
  async function addQueueRowsAs(worker: Worker): Promise<void> {
    const claimed = [...worker.held.values()].filter(({ claimBatch }) => claimBatch !== null);
    const late = claimed.map((delivery) => toSettlement({ ...delivery }, "delivered"));
    await addAllQueueRows(db, worker.id, lowestUuidAt(Math.floor(nowMs) + 1));
    for (const delivery of claimed) delivery.claimBatch = null;
    if (late.length === 0) return;
    const { refusedIds } = await write(connection, worker.id, null, late);
    expect(refusedIds).toEqual(new Set(claimed.map(({ id }) => id)));
  }

  /** Before the events that claim what the worker holds. */
  function claimsSince(worker: Worker): Uuid {
    const claiming = [...worker.held.values()].filter(({ claimBatch }) => claimBatch !== null);
    return claiming.map(({ event }) => event.id).toSorted()[0] ?? lowestUuidAt(Math.floor(nowMs));
  }

  async function reapExpired(): Promise<void> {
    const expired = (await otherWorkers(db, 0, "posthorn", 0, [])).filter(({ leaseEnded }) => leaseEnded);
    for (const registered of expired) {
      const worker = workers.find(({ id }) => id === registered.id) as Worker;
      expect(await reap(db, registered)).toEqual({
        workerId: worker.id,
        deliveries: worker.held.size,
        lanes: worker.lanes.size,
      });
      worker.isAlive = false;
      for (const { id, trigger } of worker.held.values()) {
        // it may have been sent: recorded, and not counted as a failure
        const delivery = deliveries.get(id) as Delivery;
        delivery.attempts.push(`unknown ${worker.id} ${trigger}`);
        delivery.trigger = "retry";
      }
    }
  }

  async function togglePause(endpoint: Uuid): Promise<void> {
    const isPaused = paused.has(endpoint);
    const owners = await db.transaction(async (tx) => {
      await lockTenant(tx, tenant);
      await lockEndpoint(tx, tenant, endpoint);
      await updateEndpoint(tx, endpoint, { ...endpointSettings, isActive: isPaused });
      await incrementRoutingVersion(tx, tenant);
      return await syncLanes(tx, [endpoint]);
    });
    expect(owners.get(endpoint) ?? null).toBe(
      workers.find((w) => w.isAlive && w.lanes.has(endpoint))?.id ?? null,
    );
    if (isPaused) paused.delete(endpoint);
    else paused.add(endpoint);
  }

  async function claimAs(worker: Worker, limit: number): Promise<void> {
    const ready = before.lanes.filter(
      ({ owner, paused, readyIn }) => owner === null && !paused && isDue(readyIn),
    );
    const claimed = await claimLanes(db, worker.id, limit);
    expect(claimed).toHaveLength(worker.isAlive ? Math.min(limit, ready.length) : 0);
    for (const { endpointId } of claimed) worker.lanes.add(endpointId);
  }

  async function fetchAs(worker: Worker, maxRows: number): Promise<void> {
    const turns = endpoints.map((endpointId) => ({ endpointId, maxRows }));
    const { deliveries: fetched } = await fetch(db, worker.id, turns);
    for (const endpoint of endpoints) {
      const due = before.deliveries.filter(
        (row) => row.endpoint === endpoint && row.claimedBy === null && isDue(row.dueIn),
      );
      const owns = worker.isAlive && worker.lanes.has(endpoint);
      const found = fetched.filter(({ delivery }) => delivery.endpointId === endpoint);
      expect(found).toHaveLength(owns ? Math.min(maxRows, due.length) : 0);
    }
    for (const { delivery } of fetched) hold(worker, delivery);
  }

  async function relayAs(worker: Worker, step: Step): Promise<void> {
    const { events: waiting } = await waitingEvents(db, { events: 1_000, bytes: 1_000_000 });
    expect(new Set(waiting.map(({ id }) => id))).toEqual(new Set(before.outbox));
    const given = { ...step, key: null, delivers: true, isFresh: true };
    const isWritten = await ingestAs(worker, waiting, given, { fromOutbox: true });
    // another process that read the same rows is too late
    const rival = slots[step.choice % 3] as Worker;
    if (!isWritten) return;
    await check("relay");
    await ingestAs(rival, waiting, given, { fromOutbox: true, isRefused: true });
  }

  const actions: Record<Step["kind"], (worker: Worker, step: Step) => Promise<unknown>> = {
    publish: async (worker, step) => {
      const event = { ...newEvent(), id: uuidv7(Math.floor(nowMs)) };
      const isRefused = step.key !== null && keys.has(step.key);
      const isWritten = await ingestAs(worker, [event], step, { isRefused });
      if (!isWritten || isRefused) return;
      events.add(event.id);
      if (step.key !== null) keys.set(step.key, event.id);
    },
    "publish in transaction": async (_worker, { key, hasCapacity: commits }) => {
      const client = await pool.connect();
      await client.query("begin");
      const values = [tenant, "order.paid", "{}", null, "1", key, `evt_${newEvent().id}`, null, null];
      const { rows } = await client.query(publishStatement.text, values);
      await client.query(commits ? "commit" : "rollback");
      client.release();
      const id = parseId("evt", rows[0].id) as Uuid;
      const known = key === null ? undefined : keys.get(key);
      if (known !== undefined) expect(id).toBe(known);
      if (!commits || known !== undefined) return;
      events.add(id);
      if (key !== null) keys.set(key, id);
    },
    relay: relayAs,
    claim: (worker, { count }) => claimAs(worker, count),
    release: async (worker) => {
      const busy = new Set([...worker.held.values()].map(({ endpointId }) => endpointId));
      const idle = [...worker.lanes].filter((endpoint) => !busy.has(endpoint));
      const released = await releaseLanes(db, worker.id, idle);
      // a reaped worker no longer owned any of them
      expect(released).toEqual(new Set(idle));
      for (const endpoint of released) worker.lanes.delete(endpoint);
    },
    fetch: (worker, { count }) => fetchAs(worker, count),
    "release deliveries": (worker, { count }) => releaseAs(worker, count),
    "add queue rows": (worker) => addQueueRowsAs(worker),
    settle: (worker, { ends }) => settleAs(worker, ends),
    "settle late": async (_worker, { choice, ends, count }) => {
      const dead = workers.filter(({ isAlive, held }) => !isAlive && held.size > 0);
      if (dead.length === 0) return;
      const worker = dead[choice % dead.length] as Worker;
      if (choice % 3 > 0) await settleAs(worker, ends);
      else await releaseAs(worker, count);
    },
    start: (_worker, { slot }) => start(slot),
    renew: async (worker, { slot }) => {
      const [before] = (await otherWorkers(db, 0, "posthorn", 0, [])).filter(({ id }) => id === worker.id);
      const renewed = await renewWorker(db, worker.id, leaseMs, 0, 0, claimsSince(worker));
      expect(renewed !== null).toBe(worker.isAlive);
      if (renewed === null) return start(slot);
      // a process that read the lease before the renewal may not reap after it
      const leaseExpiresMs = before?.leaseExpiresMs as number;
      expect(await reap(db, { id: worker.id, leaseExpiresMs })).toBeNull();
    },
    stall: async (stalled) => {
      await advance(20_000);
      for (const worker of slots)
        if (worker !== stalled) await renewWorker(db, worker.id, leaseMs, 0, 0, claimsSince(worker));
      const alive = slots.filter((worker) => worker !== stalled && worker.isAlive);
      await reapExpired();
      expect(stalled.isAlive).toBe(false);
      expect(alive.every(({ isAlive }) => isAlive)).toBe(true);
    },
    advance: (_worker, { choice }) => advance([20_000, 1.1 * minute, 11 * minute][choice % 3] as number),
    retry: async (_worker, { choice }) => {
      const row = before.deliveries[choice % (before.deliveries.length + 1)];
      const result = await requeueDelivery(db, row?.id ?? randomUUID());
      if (row === undefined) expect(result).toEqual({ kind: "not_found" });
      else if (paused.has(row.endpoint))
        expect(result).toEqual({ kind: "paused", because: "endpoint_disabled" });
      else if (row.state === "in_flight") expect(result).toEqual({ kind: "in_flight" });
      else {
        const owner = before.lanes.find(({ id }) => id === row.endpoint)?.owner;
        expect(result).toEqual({ kind: "queued", endpointId: row.endpoint, owner, isProbe: false });
        Object.assign(deliveries.get(row.id) as Delivery, { trigger: "manual", failures: 0, dueMs: nowMs });
      }
    },
    pause: (_worker, { slot }) => togglePause(endpoints[slot] as Uuid),
    discard: async (_worker, { slot, choice }) => {
      if (choice % 3 > 0) return;
      const isWaiting = ({ endpoint, claimedBy, dueIn }: Row) =>
        endpoint === endpoints[slot] && claimedBy === null && dueIn !== null;
      const count = await cancelQueued(db, [endpoints[slot] as Uuid], "discarded");
      expect(count).toBe(before.deliveries.filter(isWaiting).length);
    },
  };

  async function check(kind: string): Promise<void> {
    const now = await snapshot();
    expect(new Set(now.deliveries.map(({ id }) => id)), "in queue or history exactly once").toEqual(
      new Set(deliveries.keys()),
    );
    expect(now.deliveries).toHaveLength(deliveries.size);
    expect(new Set(now.events), "rolled back events never existed").toEqual(events);
    const alive = workers.filter(({ isAlive }) => isAlive);
    expect(new Set(now.workers)).toEqual(new Set(alive.map(({ id }) => id)));
    for (const { id, lanes, held } of alive) {
      const owned = now.lanes.filter(({ owner }) => owner === id).map((lane) => lane.id);
      expect(new Set(owned)).toEqual(lanes);
      const claimed = now.deliveries.filter(({ claimedBy }) => claimedBy === id).map((row) => row.id);
      expect(new Set(claimed)).toEqual(new Set(held.keys()));
    }
    const states = new Map(before.deliveries.map(({ id, state }) => [id, state]));
    const laneById = new Map(now.lanes.map((lane) => [lane.id, lane]));
    for (const { id, endpoint, state, claimedBy, failures, dueIn, attempts, ends } of now.deliveries) {
      const delivery = deliveries.get(id) as Delivery;
      if (delivery.dueMs !== delivery.checked?.dueMs)
        delivery.checked = { dueMs: delivery.dueMs, tookMs: now.atMs - nowMs };
      expect([attempts, ends], "each attempt is recorded once").toEqual([
        delivery.attempts.length,
        delivery.attempts,
      ]);
      const from = states.get(id);
      const allowed = [...(transitions[`${from}`] ?? []), ...(transitions[`${from} by ${kind}`] ?? [])];
      if (from !== state) expect(allowed, `${from} to ${state} by ${kind}`).toContain(state);
      if (dueIn === null) continue;
      expect(failures).toBe(delivery.failures);
      const { owner, paused: isPaused, readyIn } = laneById.get(endpoint) as Snapshot["lanes"][number];
      if (claimedBy !== null) {
        expect(claimedBy, "only the owner of a lane holds its deliveries").toBe(owner);
        continue;
      }
      const lateMs = now.atMs + dueIn - delivery.dueMs;
      expect(lateMs).toBeGreaterThan(-1);
      expect(lateMs).toBeLessThan(delivery.checked.tookMs + 1);
      if (owner !== null || isPaused) continue;
      expect(readyIn, "a lane without an owner is ready when its first delivery is due").not.toBeNull();
      expect(readyIn).toBeLessThanOrEqual(dueIn);
    }
    before = now;
    nowMs = now.atMs;
  }

  async function take(step: Step): Promise<void> {
    await actions[step.kind](slots[step.slot] as Worker, step);
    await check(step.kind);
  }

  return {
    take,
    /** All workers die, a new one continues and receivers recover: everything must finish. */
    async bringToAnEnd(): Promise<void> {
      for (const endpoint of [...paused]) await togglePause(endpoint);
      await advance(11 * minute);
      await reapExpired();
      await check("end");
      const worker = await start(0);
      const [step] = fc.sample(anyStep, 1) as [Step];
      await take({ ...step, kind: "relay", slot: 0, hasCapacity: true });
      await claimAs(worker, 10);
      await check("end");
      await fetchAs(worker, 1_000);
      await check("end");
      await settleAs(worker, Array(worker.held.size).fill("delivered"));
      await check("end");
      expect(before.deliveries.filter(({ state }) => state !== "success" && state !== "dead")).toEqual([]);
    },
  };
}

/** Every delivery that its event claims. */
const claimBatch: ClaimBatch = {
  ended: (delivery) => {
    delivery.claimBatch = null;
  },
};

/** All events have the same content. */
const digest = hash("sha256", "order.paid\n1\n\n{}", "buffer");
const isDue = (inMs: number | null) => inMs !== null && inMs <= 0;

const transitions: Readonly<Record<string, readonly State[]>> = {
  undefined: ["pending", "in_flight"],
  pending: ["in_flight"],
  in_flight: ["pending", "failed", "success", "dead"],
  failed: ["in_flight"],
  "failed by retry": ["pending"],
  "success by retry": ["pending"],
  "dead by retry": ["pending"],
  "pending by discard": ["dead"],
  "failed by discard": ["dead"],
};

interface Row {
  readonly id: Uuid;
  readonly endpoint: Uuid;
  readonly state: State;
  readonly claimedBy: number | null;
  readonly failures: number;
  /** Null in the history. */
  readonly dueIn: number | null;
  readonly attempts: number;
  /** How the attempts 1, 2, … ended. */
  readonly ends: readonly string[];
}

interface Snapshot {
  /** The database's time. */
  readonly atMs: number;
  readonly deliveries: readonly Row[];
  readonly lanes: readonly { id: Uuid; owner: number | null; readyIn: number | null; paused: boolean }[];
  readonly workers: readonly number[];
  readonly events: readonly Uuid[];
  readonly outbox: readonly Uuid[];
  readonly routingVersion: number;
}

async function snapshot(): Promise<Snapshot> {
  const { rows } = await queue.pool.query<{ snapshot: Snapshot }>(snapshotText);
  return (rows[0] as { snapshot: Snapshot }).snapshot;
}

const snapshotText = `
select json_build_object(
  'atMs', posthorn.epoch_ms(posthorn.now()),
  'deliveries', coalesce((
    select json_agg(json_build_object(
      'id', d.id, 'endpoint', d.endpoint_id, 'state', d.state, 'attempts', d.attempts, 'claimedBy', q.claimed_by,
      'failures', q.failures, 'dueIn', posthorn.epoch_ms(q.next_at) - posthorn.epoch_ms(posthorn.now()),
      'ends', coalesce(a.ends, '[]')))
    from posthorn.delivery_states d
    left join posthorn.unfinished q on q.id = d.id
    left join (
      select delivery_id, json_agg(coalesce(error, 'answered') || ' ' || worker || ' ' || trigger order by number) as ends
      from posthorn.attempts
      group by delivery_id
    ) a on a.delivery_id = d.id), '[]'),
  'lanes', (
    select json_agg(json_build_object(
      'id', l.endpoint_id, 'owner', l.owner, 'paused', l.paused,
      'readyIn', posthorn.epoch_ms(l.ready_at) - posthorn.epoch_ms(posthorn.now())))
    from posthorn.lanes l),
  'workers', coalesce((select json_agg(w.id) from posthorn.workers w), '[]'),
  'events', coalesce((select json_agg(e.id) from posthorn.events e), '[]'),
  'outbox', coalesce((select json_agg(o.event_id) from posthorn.outbox o), '[]'),
  'routingVersion', (select t.routing_version::float8 from posthorn.tenants t)
) as snapshot
`;
