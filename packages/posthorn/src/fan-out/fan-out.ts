// Turns committed facts into what is owed: one queue row per endpoint that asked for the event, in one statement for
// a whole batch. Rows whose lane this worker owns, or gains by the same statement, are born claimed and go straight
// to sending.
import type { ClaimedDelivery, Event, RecordedHealth, Target, Uuid } from "../model.ts";
import type { Queryable } from "../storage/database.ts";
import {
  claim,
  type IdempotencyKey,
  type IngestResult,
  ingest,
  type QueuedDelivery,
} from "../storage/queries/events/ingest.ts";
import { deliveryIdOf } from "./delivery-id.ts";
import { laneRoom } from "./lane-room.ts";
import { isAbout } from "./matches.ts";
import type { Routes } from "./routes.ts";

/** Where deliveries go; implemented by the worker. */
export interface LaneHolder {
  readonly workerId: number;
  readonly delivers: boolean;
  /** Runs a claim; taking stock waits until no claim is in the air. */
  claiming<Result>(work: () => Promise<Result>): Promise<Result>;
  reserve(target: Target): { claim: 0 | 1 | 2; isForeign: boolean };
  unreserve(endpointId: Uuid): void;
  /** The statement made this worker the lane's owner, whether or not it brought deliveries. */
  gain(target: Target, health: RecordedHealth | null): void;
  admit(delivery: ClaimedDelivery): void;
  /** Rows were left owed in these lanes. */
  owe(lanes: {
    readonly mine: readonly Uuid[];
    readonly others: ReadonlyMap<Uuid, number>;
    readonly ready: readonly Uuid[];
  }): void;
  /** Asked after a statement wrote nothing: true when this worker had been buried and has a new life now. */
  revive(workerId: number): Promise<void>;
}

export interface FanOutBatch {
  readonly events: readonly Event[];
  readonly keys: readonly IdempotencyKey[];
  /** The events stand in the outbox already. */
  readonly fromOutbox: boolean;
}

export interface FanOutResult {
  readonly refused: ReadonlySet<Uuid>;
  readonly deliveries: ReadonlyMap<Uuid, number>;
}

interface Planned extends QueuedDelivery {
  readonly event: Event;
  readonly target: Target;
  readonly isForeign: boolean;
}

export interface FanOut {
  /** How many of these events, from the first on, one statement takes; a tenant may have thousands of endpoints. */
  fit(events: readonly Event[]): Promise<number>;
  run(batch: FanOutBatch): Promise<FanOutResult>;
}

/** 10,000 rows take about a third of a second; the statement is given up for lost after five. */
const maxDeliveries = 10_000;

export function createFanOut({
  db,
  routes,
  lanes,
}: {
  db: Queryable;
  routes: Routes;
  lanes: LaneHolder;
}): FanOut {
  return { fit, run };

  async function fit(events: readonly Event[]): Promise<number> {
    await routes.ensure(new Set(events.map((event) => event.tenant)));
    let deliveries = 0;
    for (const [index, event] of events.entries()) {
      deliveries += routes.matching(event.tenant, event.type).length;
      if (deliveries > maxDeliveries && index > 0) return index;
    }
    return events.length;
  }

  async function run(batch: FanOutBatch): Promise<FanOutResult> {
    const tenants = new Set(batch.events.map((event) => event.tenant));
    for (;;) {
      await routes.ensure(tenants);
      const { workerId } = lanes;
      const { plan, result } = await lanes.claiming(() => tryOnce(batch, workerId, tenants));
      if (result.written) return { refused: new Set(result.refusedEventIds), deliveries: countByEvent(plan) };
      if (result.staleTenants.length > 0) routes.forget(result.staleTenants);
      else await lanes.revive(workerId);
    }
  }

  async function tryOnce(
    batch: FanOutBatch,
    workerId: number,
    tenants: ReadonlySet<string>,
  ): Promise<{ plan: Planned[]; result: IngestResult }> {
    const plan = planDeliveries(batch.events, routes, lanes);
    const result = await write(batch, plan, workerId, tenants);
    if (result.written) handOver(plan, result);
    else returnPromises(plan);
    return { plan, result };
  }

  async function write(
    batch: FanOutBatch,
    plan: readonly Planned[],
    workerId: number,
    tenants: ReadonlySet<string>,
  ): Promise<IngestResult> {
    try {
      return await ingest(db, {
        workerId,
        delivers: lanes.delivers,
        routes: new Map([...tenants].map((tenant) => [tenant, routes.versionOf(tenant)])),
        events: batch.fromOutbox ? [] : batch.events,
        keys: batch.keys,
        outboxIds: batch.fromOutbox ? batch.events.map((event) => event.id) : [],
        deliveries: plan,
        foreignLanes: [...new Set(plan.filter((row) => row.isForeign).map((row) => row.endpointId))],
      });
    } catch (error) {
      returnPromises(plan);
      throw error;
    }
  }

  function handOver(plan: readonly Planned[], result: IngestResult): void {
    const refused = new Set(result.refusedEventIds);
    const gained = result.gainedLanes;
    if (gained.size > 0) openGained(plan, gained);
    const oweMine = new Set<Uuid>();
    for (const row of plan) {
      if (row.claim === claim.mine) lanes.unreserve(row.endpointId);
      if (refused.has(row.eventId)) continue;
      if (row.claim === claim.mine || (row.claim === claim.ifGained && gained.has(row.endpointId))) {
        lanes.admit(bornClaimed(row));
      } else if (!row.isForeign || gained.has(row.endpointId)) {
        oweMine.add(row.endpointId);
      }
    }
    lanes.owe({ mine: [...oweMine], others: result.otherOwners, ready: result.readyLanes });
  }

  function openGained(plan: readonly Planned[], gained: IngestResult["gainedLanes"]): void {
    const targets = new Map(plan.map((row) => [row.endpointId, row.target]));
    for (const [endpointId, health] of gained) lanes.gain(targets.get(endpointId) as Target, health);
  }

  function returnPromises(plan: readonly Planned[]): void {
    for (const row of plan) if (row.claim === claim.mine) lanes.unreserve(row.endpointId);
  }
}

function planDeliveries(events: readonly Event[], routes: Routes, lanes: LaneHolder): Planned[] {
  const plan: Planned[] = [];
  const hoped = new Map<Uuid, number>();
  for (const event of events) {
    for (const target of routes.matching(event.tenant, event.type)) {
      const { endpointId } = target;
      if (isAbout(event, endpointId)) continue;
      const id = deliveryIdOf(event.id, endpointId);
      const reservation = lanes.reserve(target);
      const isHoped = reservation.claim === claim.ifGained;
      if (isHoped) hoped.set(endpointId, (hoped.get(endpointId) ?? 0) + 1);
      // a lane that is gained takes no more into memory than one that is owned
      const isTooMany = isHoped && (hoped.get(endpointId) ?? 0) > laneRoom(target);
      const claimed = isTooMany ? claim.none : reservation.claim;
      plan.push({
        id,
        eventId: event.id,
        endpointId,
        event,
        target,
        isForeign: reservation.isForeign,
        claim: claimed,
      });
    }
  }
  return plan;
}

function bornClaimed(row: Planned): ClaimedDelivery {
  return {
    id: row.id,
    event: row.event,
    endpointId: row.endpointId,
    attempts: 0,
    failures: 0,
    ageMs: 0,
    trigger: "event",
  };
}

function countByEvent(plan: readonly Planned[]): Map<Uuid, number> {
  const counts = new Map<Uuid, number>();
  for (const row of plan) counts.set(row.eventId, (counts.get(row.eventId) ?? 0) + 1);
  return counts;
}
