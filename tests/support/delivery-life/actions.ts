// What processes do in the model of a delivery's life: each is done in the database, checked against what the model
// foretold, and then done in the model.
import { hash } from "node:crypto";
import { uuidv7 } from "@posthorn/wire";
import { expect } from "vitest";
import {
  type ClaimedDelivery,
  type Event,
  NO_PHASES,
  type Settlement,
  type Uuid,
} from "../../../packages/posthorn/src/model.ts";
import { lockEndpoint } from "../../../packages/posthorn/src/storage/queries/endpoints/read.ts";
import { syncLanes } from "../../../packages/posthorn/src/storage/queries/endpoints/sync-lanes.ts";
import { updateEndpoint } from "../../../packages/posthorn/src/storage/queries/endpoints/write.ts";
import {
  claim,
  type IngestResult,
  ingest,
  type QueuedDelivery,
} from "../../../packages/posthorn/src/storage/queries/events/ingest.ts";
import { publishStatement } from "../../../packages/posthorn/src/storage/queries/events/publish-in-transaction.ts";
import { acquireLanes } from "../../../packages/posthorn/src/storage/queries/lanes/acquire.ts";
import { waitingEvents } from "../../../packages/posthorn/src/storage/queries/outbox/waiting.ts";
import { fetch } from "../../../packages/posthorn/src/storage/queries/queue/fetch.ts";
import { releaseDeliveries } from "../../../packages/posthorn/src/storage/queries/queue/release.ts";
import { settle } from "../../../packages/posthorn/src/storage/queries/queue/settle.ts";
import {
  incrementRoutingVersion,
  lockTenant,
} from "../../../packages/posthorn/src/storage/queries/tenants/lock.ts";
import { advanceTestClock } from "../../../packages/posthorn/src/storage/queries/test-clock.ts";
import { reap, suspectWorkers } from "../../../packages/posthorn/src/storage/queries/workers/reap.ts";
import { compare } from "./compare.ts";
import {
  type Delivery,
  endpointSettings,
  firstDue,
  freeLane,
  isAlive,
  laneOf,
  type Model,
  minute,
  startProcess,
  tenant,
  unclaim,
  type Worker,
  type World,
} from "./model.ts";

export function isReached(model: Model, ms: number | null): boolean {
  return ms !== null && ms <= model.nowMs;
}

export async function giveBackAs(worker: Worker, model: Model, count: number): Promise<void> {
  const ids = [...worker.held.keys()].slice(0, count);
  await releaseDeliveries(model.db, worker.id, ids);
  for (const id of ids) {
    worker.held.delete(id);
    if (isAlive(model, worker)) unclaim(model.deliveries.get(id) as Delivery);
  }
}

export function newEvent(): Event {
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

export async function publishInOwnTransaction(
  model: Model,
  event: Event,
  key: string | null,
  commits: boolean,
): Promise<string> {
  const client = await model.pool.connect();
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
  readonly hasCapacity: boolean;
  readonly delivers: boolean;
  readonly isFresh: boolean;
  readonly key: string | null;
  readonly refuses: boolean;
  readonly fromOutbox?: boolean;
}

/** As the fan-out does it: planned by what the process remembers, decided by the statement. */
export async function ingestAs(
  worker: Worker,
  model: Model,
  batch: readonly { readonly event: Event; readonly endpoints: readonly Uuid[] }[],
  { hasCapacity, delivers, isFresh, key, refuses, fromOutbox = false }: IngestOptions,
): Promise<boolean> {
  const plan = batch.flatMap(({ event, endpoints }) =>
    endpoints.map((endpointId) => {
      const mayClaim = hasCapacity && !laneOf(model, endpointId).isPaused;
      const isForeign = !worker.lanes.has(endpointId);
      const wanted = isForeign ? (delivers ? claim.ifGained : claim.none) : claim.mine;
      return {
        id: uuidv7(),
        event,
        eventId: event.id,
        endpointId,
        isForeign,
        claim: mayClaim ? wanted : claim.none,
        isOrdered: false,
      };
    }),
  );
  const foreignLanes = [...new Set(plan.filter((row) => row.isForeign).map((row) => row.endpointId))];
  const ids = batch.map(({ event }) => event.id);
  const result = await ingest(model.db, {
    workerId: worker.id,
    delivers,
    routes: new Map([[tenant, model.routingVersion - (isFresh ? 0 : 1)]]),
    events: fromOutbox ? [] : batch.map(({ event }) => event),
    keys: key === null ? [] : ids.map((eventId) => ({ tenant, key, eventId, digest: digestOfAll })),
    outbox: fromOutbox ? batch.map(({ event }) => event) : [],
    deliveries: plan,
    collected: [],
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
      row.claim === claim.mine || (row.claim === claim.ifGained && result.gainedLanes.has(row.endpointId));
    model.deliveries.set(row.id, {
      id: row.id,
      endpoint: row.endpointId,
      state: "pending",
      claimedBy: null,
      attempts: [],
      trigger: "event",
      failures: 0,
      dueMs: model.nowMs,
    });
    if (isBornClaimed)
      takeClaimed(model, worker, {
        ...row,
        attempts: 0,
        failures: 0,
        scheduleStartedMs: 0,
        trigger: "event",
      });
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
    gained: new Set(result.gainedLanes.keys()),
    others: result.otherOwners,
    ready: new Set(result.readyLanes),
  }).toEqual(foretold);
}

export function takeClaimed(model: Model, worker: Worker, claimed: ClaimedDelivery): void {
  const delivery = model.deliveries.get(claimed.id) as Delivery;
  expect(delivery.claimedBy, "one owner of a delivery at a time").toBeNull();
  expect(claimed).toMatchObject({
    attempts: delivery.attempts.length,
    failures: delivery.failures,
    trigger: delivery.trigger,
  });
  Object.assign(delivery, { state: "in_flight", claimedBy: worker.id });
  worker.held.set(claimed.id, claimed);
}

export type End = "delivered" | "retry" | "long retry" | "dead";

export async function settleAs(worker: Worker, model: Model, ends: readonly End[]): Promise<void> {
  const held = [...worker.held.values()].slice(0, ends.length);
  const settlements = held.map((delivery, i) => toSettlement(delivery, ends[i] as End));
  const settled = await settle(model.db, worker.id, settlements);
  expect(settled).toEqual(new Set(isAlive(model, worker) ? held.map((delivery) => delivery.id) : []));
  for (const [i, { id }] of held.entries()) {
    worker.held.delete(id);
    if (!settled.has(id)) continue;
    const delivery = model.deliveries.get(id) as Delivery;
    delivery.attempts.push(`answered ${worker.id} ${delivery.trigger}`);
    delivery.claimedBy = null;
    const end = ends[i] as End;
    if (end === "delivered") delivery.state = "success";
    else if (end === "dead") delivery.state = "dead";
    else {
      delivery.failures += 1;
      delivery.trigger = "retry";
      delivery.state = "failed";
      delivery.dueMs = model.nowMs + delays[end];
    }
  }
}

const delays = { retry: minute, "long retry": 10 * minute };

export function toSettlement(delivery: ClaimedDelivery, end: End): Settlement {
  return {
    delivery,
    startedAt: new Date(),
    outcome: {
      kind: "answered",
      statusCode: end === "delivered" ? 200 : 500,
      responseBody: Buffer.from("said"),
      retryAfter: null,
      durationMs: 1,
      phases: NO_PHASES,
    },
    decision:
      end === "delivered"
        ? { kind: "delivered" }
        : end === "dead"
          ? { kind: "dead", reason: "rejected", disableEndpoint: false }
          : { kind: "retry", delayMs: delays[end], isFailure: true },
  };
}

export async function advance(model: Model, ms: number): Promise<void> {
  await advanceTestClock(model.db, ms);
  model.nowMs += ms;
}

export async function buryTheDead(model: Model): Promise<void> {
  const ended = (await suspectWorkers(model.db, 0, "posthorn", 0)).filter((suspect) => suspect.leaseEnded);
  const foretold = [...model.leases].filter(([, until]) => until < model.nowMs).map(([id]) => id);
  expect(new Set(ended.map(({ id }) => id))).toEqual(new Set(foretold));
  for (const suspect of ended) {
    const claimed = [...model.deliveries.values()].filter(({ claimedBy }) => claimedBy === suspect.id);
    const lanes = [...model.lanes].filter(([, lane]) => lane.owner === suspect.id);
    expect(await reap(model.db, suspect)).toEqual({
      workerId: suspect.id,
      deliveries: claimed.length,
      lanes: lanes.length,
    });
    for (const delivery of claimed) {
      // it may have been sent: recorded, and not counted as a failure
      delivery.attempts.push(`unknown ${suspect.id} ${delivery.trigger}`);
      delivery.trigger = "retry";
      unclaim(delivery);
    }
    for (const [endpoint] of lanes) freeLane(model, endpoint);
    model.leases.delete(suspect.id);
  }
}

export async function togglePause(model: Model, endpoint: Uuid): Promise<void> {
  const lane = laneOf(model, endpoint);
  const owners = await model.db.transaction(async (tx) => {
    await lockTenant(tx, tenant);
    await lockEndpoint(tx, tenant, endpoint);
    await updateEndpoint(tx, endpoint, { ...endpointSettings, isActive: lane.isPaused });
    await incrementRoutingVersion(tx, tenant);
    return await syncLanes(tx, [endpoint]);
  });
  expect(owners.get(endpoint)).toBe(lane.owner);
  model.routingVersion += 1;
  lane.isPaused = !lane.isPaused;
  lane.readyMs = lane.owner === null ? firstDue(model, endpoint) : null;
}

/** All that ever was is buried, a new process goes on, receivers are well: everything owed must come to its end. */
export async function bringToAnEnd(model: Model, real: World): Promise<void> {
  for (const [endpoint, lane] of model.lanes) if (lane.isPaused) await togglePause(model, endpoint);
  await advance(model, 11 * minute);
  await buryTheDead(model);
  await startProcess(model, 0);
  const worker = model.processes[0] as Worker;
  const waiting = await waitingEvents(model.db, { events: 1_000, bytes: 1_000_000 });
  const events = waiting.map((event) => ({ event, endpoints: model.outbox.get(event.id) as Uuid[] }));
  const options = {
    hasCapacity: true,
    delivers: true,
    isFresh: true,
    key: null,
    refuses: false,
    fromOutbox: true,
  };
  await ingestAs(worker, model, events, options);
  model.outbox.clear();
  for (const { endpointId: endpoint } of await acquireLanes(model.db, worker.id, 10)) {
    Object.assign(laneOf(model, endpoint), { owner: worker.id, readyMs: null });
    worker.lanes.add(endpoint);
  }
  const turns = real.endpoints.map((endpointId) => ({ endpointId, room: 1_000 }));
  const { deliveries } = await fetch(model.db, worker.id, turns);
  for (const { delivery } of deliveries) takeClaimed(model, worker, delivery);
  await settleAs(worker, model, Array(worker.held.size).fill("delivered"));
  await compare(model, real, "done");
  const unfinished = [...model.deliveries.values()].filter(
    ({ state }) => state !== "success" && state !== "dead",
  );
  expect(unfinished).toEqual([]);
}
