// Turns committed events into queue rows, one per endpoint that subscribed, in one statement for a whole batch. Rows
// in lanes that this worker owns, or gains by the same statement, are inserted claimed and sent at once.
import type { ClaimedDelivery, Event, RecordedHealth, Target, Uuid } from "../model.ts";
import type { Observer } from "../observe/observer.ts";
import type { Database } from "../storage/database.ts";
import { claim, type IngestBatch, type IngestResult, ingest } from "../storage/queries/events/ingest.ts";
import { ingestInOrder } from "../storage/queries/events/ingest-in-order.ts";
import type { IdempotencyKey } from "../storage/queries/events/number.ts";
import { type Collected, type Plan, type Planned, planDeliveries } from "./plan.ts";
import type { Routes } from "./routes.ts";

/** The owner of lanes, to which deliveries are handed over; implemented by the worker. */
export interface LaneOwner {
  readonly workerId: number;
  readonly delivers: boolean;
  /** Runs a claim. Reconciliation waits until no claim is in progress. */
  claiming<Result>(work: () => Promise<Result>): Promise<Result>;
  reserve(target: Target): { claim: 0 | 1 | 2; isForeign: boolean };
  unreserve(endpointId: Uuid): void;
  /** The statement made this worker the lane's owner, with or without deliveries. */
  gain(target: Target, health: RecordedHealth | null): void;
  admit(delivery: ClaimedDelivery): void;
  /** Rows were left due in these lanes. */
  notifyDue(lanes: {
    readonly mine: readonly Uuid[];
    readonly others: ReadonlyMap<Uuid, number>;
    readonly ready: readonly Uuid[];
  }): void;
  /** Called after a statement wrote nothing. Gets a new worker id if this worker has been reaped. */
  reregister(workerId: number): Promise<void>;
}

export interface FanOutBatch {
  readonly events: readonly Event[];
  readonly keys: readonly IdempotencyKey[];
  /** The events are in the outbox already. */
  readonly fromOutbox: boolean;
}

export interface FanOutResult {
  readonly refused: ReadonlySet<Uuid>;
  /** Sequences of the events that have a subject. */
  readonly sequences: ReadonlyMap<Uuid, number>;
  /** Deliveries per event; null if they are created later, because an earlier event of the subject waits too. */
  readonly deliveries: ReadonlyMap<Uuid, number | null>;
}

export interface FanOut {
  /**
   * Returns how many of these events, from the first on, fit in one statement; a tenant may have thousands of
   * endpoints.
   */
  fit(events: readonly Event[]): Promise<number>;
  run(batch: FanOutBatch): Promise<FanOutResult>;
}

/** 10,000 rows take about a third of a second; a statement is considered lost after five seconds. */
const maxDeliveries = 10_000;

export function createFanOut({
  db,
  routes,
  lanes,
  observer,
  onCollected,
}: {
  db: Database;
  routes: Routes;
  lanes: LaneOwner;
  observer: Observer;
  /** Events wait for their batches. */
  onCollected: (collected: readonly Collected[]) => void;
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
      if (result.written) {
        const { sequences, refusedEventIds } = result;
        const refused = new Set(refusedEventIds);
        const deliveries = countByEvent(plan, result);
        reportPublished(batch, refused, deliveries);
        return { sequences, refused, deliveries };
      }
      if (result.staleTenants.length > 0) routes.forget(result.staleTenants);
      else await lanes.reregister(workerId);
    }
  }

  /** Events that stay in the outbox are reported by the relay. */
  function reportPublished(
    { events, fromOutbox }: FanOutBatch,
    refused: ReadonlySet<Uuid>,
    deliveries: ReadonlyMap<Uuid, number | null>,
  ): void {
    const isPublished = ({ id }: Event) => !refused.has(id) && deliveries.get(id) !== null;
    observer.published(
      events.filter(isPublished),
      fromOutbox ? "outbox" : "direct",
      ({ id }) => deliveries.get(id) ?? 0,
    );
  }

  async function tryOnce(
    batch: FanOutBatch,
    workerId: number,
    tenants: ReadonlySet<string>,
  ): Promise<{ plan: Plan; result: IngestResult }> {
    const plan = planDeliveries(batch, routes, lanes);
    const result = await write(batch, plan, workerId, tenants);
    if (!result.written) releaseReservations(plan);
    else {
      handOver(plan, result);
      if (plan.collected.length > 0) onCollected(plan.collected);
    }
    return { plan, result };
  }

  async function write(
    batch: FanOutBatch,
    plan: Plan,
    workerId: number,
    tenants: ReadonlySet<string>,
  ): Promise<IngestResult> {
    const written: IngestBatch = {
      workerId,
      delivers: lanes.delivers,
      routes: new Map([...tenants].map((tenant) => [tenant, routes.versionOf(tenant)])),
      events: batch.fromOutbox ? [] : batch.events,
      keys: batch.keys,
      outbox: batch.fromOutbox ? batch.events : [],
      deliveries: plan.deliveries,
      collected: plan.collected,
      foreignLanes: [...new Set(plan.deliveries.filter((row) => row.isForeign).map((row) => row.endpointId))],
    };
    // events in the outbox have sequences, and a reader of one sees the earlier ones
    const needsSubjects = !batch.fromOutbox && plan.deliveries.some((row) => row.isOrdered);
    const startedAt = performance.now();
    try {
      const result = needsSubjects ? await ingestInOrder(db, written) : await ingest(db, written);
      observer.metrics.statementTook("ingest", performance.now() - startedAt);
      return result;
    } catch (error) {
      releaseReservations(plan);
      throw error;
    }
  }

  function handOver({ deliveries: plan }: Plan, result: IngestResult): void {
    const leftOut = new Set([...result.refusedEventIds, ...result.deferredEventIds]);
    const behind = new Set(result.behindIds);
    const gained = result.gainedLanes;
    const withSequence = sequencer(result.sequences);
    if (gained.size > 0) openGained(plan, gained);
    const dueInOwn = new Set<Uuid>();
    for (const row of plan) {
      if (row.claim === claim.mine) lanes.unreserve(row.endpointId);
      if (leftOut.has(row.eventId)) continue;
      const isClaimed =
        row.claim === claim.mine || (row.claim === claim.ifGained && gained.has(row.endpointId));
      if (isClaimed && !behind.has(row.id)) {
        lanes.admit(bornClaimed(row, withSequence(row.event)));
      } else if (!row.isForeign || gained.has(row.endpointId)) {
        dueInOwn.add(row.endpointId);
      }
    }
    lanes.notifyDue({ mine: [...dueInOwn], others: result.otherOwners, ready: result.readyLanes });
  }

  function openGained(plan: readonly Planned[], gained: IngestResult["gainedLanes"]): void {
    const targets = new Map(plan.map((row) => [row.endpointId, row.target]));
    for (const [endpointId, health] of gained) lanes.gain(targets.get(endpointId) as Target, health);
  }

  function releaseReservations({ deliveries }: Plan): void {
    for (const row of deliveries) if (row.claim === claim.mine) lanes.unreserve(row.endpointId);
  }
}

/** The deliveries of one event share the object. */
function sequencer(sequences: ReadonlyMap<Uuid, number>): (event: Event) => Event {
  const numbered = new Map<Uuid, Event>();
  return (event) => {
    const sequence = sequences.get(event.id);
    if (sequence === undefined || sequence === event.sequence) return event;
    const known = numbered.get(event.id) ?? { ...event, sequence };
    numbered.set(event.id, known);
    return known;
  };
}

function bornClaimed(row: Planned, event: Event): ClaimedDelivery {
  return {
    id: row.id,
    event,
    endpointId: row.endpointId,
    attempts: 0,
    failures: 0,
    scheduleStartedMs: event.createdAt.getTime(),
    trigger: "event",
    isOrdered: row.isOrdered,
  };
}

function countByEvent(
  { deliveries, collected }: Plan,
  { deferredEventIds }: IngestResult,
): Map<Uuid, number | null> {
  const counts = new Map<Uuid, number | null>();
  // a place in a batch counts as a delivery of the event
  for (const row of [...deliveries, ...collected])
    counts.set(row.eventId, (counts.get(row.eventId) ?? 0) + 1);
  for (const id of deferredEventIds) counts.set(id, null);
  return counts;
}
