// Turns events into deliveries, one per endpoint that subscribed, in one statement for a whole batch. Those in lanes
// that this worker owns, or gains by the same statement, are claimed in that statement and sent at once.
import type { Event, Target, Uuid } from "../model.ts";
import type { Observer } from "../observe/observer.ts";
import type { Database } from "../storage/database.ts";
import type { IngestBatch, IngestResult } from "../storage/queries/events/ingest.ts";
import { ingestInOrder } from "../storage/queries/events/ingest-in-order.ts";
import type { IdempotencyKey } from "../storage/queries/events/number.ts";
import { type Collected, type Plan, type Planned, planDeliveries } from "./plan.ts";
import type { Routes } from "./routes.ts";

/** The reply of a process that events were passed to. */
export interface StoredEvents {
  /** The number of deliveries of each event; null if it is unknown whether the event is stored. */
  readonly deliveries: readonly (number | null)[];
  /** Lanes of these events that this process does not own, or is about to release, or cannot serve now. */
  readonly refusedLanes: readonly Uuid[];
  /** The routing versions of the events' tenants. */
  readonly routingVersions: readonly (readonly [tenant: string, version: number])[];
}

/** Owns lanes and accepts their new deliveries; implemented by the worker. */
export interface LaneOwner {
  readonly workerId: number;
  readonly delivers: boolean;
  /** Begins a claim. Reconciliation waits until each has ended. */
  beginClaim(): Promise<void>;
  endClaim(): void;
  /** Decides which deliveries the statement claims, and reserves capacity for them. */
  reserve(deliveries: readonly Planned[]): void;
  /** Stores a batch that needs no subjects, together with finished attempts. */
  ingest(batch: IngestBatch): Promise<IngestResult>;
  /** Admits the stored deliveries, and notifies the owners of other lanes. A null `result`: nothing was stored. */
  apply(deliveries: readonly Planned[], result: IngestResult | null): void;
  /** True if events may be passed to other processes of this machine. */
  readonly hasPeers: boolean;
  /** Returns the process of this machine that owns the lanes of all these targets; null if there is none, or this one. */
  ownerElsewhere(targets: readonly Target[]): number | null;
  /** Passes new events to that process. Resolves with null if it is unknown what is stored. */
  passEvents(owner: number, events: readonly Event[]): Promise<StoredEvents | null>;
  /** Returns false if the lane belongs to another worker, or is about to. */
  owns(endpointId: Uuid): boolean;
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
  /** Events that matched endpoints and got no deliveries, because the mode of delivery is `drop`. */
  readonly dropped: ReadonlySet<Uuid>;
  /** Deliveries per event; null if they are created later, because an earlier event of the subject waits too. */
  readonly deliveries: ReadonlyMap<Uuid, number | null>;
}

interface Try {
  readonly workerId: number;
  readonly tenants: ReadonlySet<string>;
  /** The events get no deliveries. */
  readonly drops: boolean;
}

interface Tried {
  readonly plan: Plan;
  readonly dropped: ReadonlySet<Uuid>;
  readonly result: IngestResult;
}

export type FanOut = ReturnType<typeof createFanOut>;

/** 10,000 rows take about a third of a second; a statement is considered lost after five seconds. */
const maxDeliveries = 10_000;

export function createFanOut({
  db,
  routes,
  lanes,
  observer,
  onCollected,
  isDropping,
  storing,
  onDropped,
}: {
  db: Database;
  routes: Routes;
  lanes: LaneOwner;
  observer: Observer;
  /** Events wait for their batches. */
  onCollected: (collected: readonly Collected[]) => void;
  /** Events get no deliveries at the moment, as far as this process knows. */
  isDropping: () => boolean;
  /** Stores events, which get no deliveries if `isDropping`. */
  storing: <Stored>(store: (isDropping: boolean) => Promise<Stored>) => Promise<Stored>;
  onDropped: (events: number) => void;
}) {
  return { passesTo, confirmPassed, compareRoutes, fit, run };

  /** Returns the process that stores this event; null for this one. */
  function passesTo({ tenant, type, traceparent, attributes }: Event): number | null {
    if (!lanes.hasPeers || isDropping() || traceparent !== undefined || attributes !== undefined) return null;
    return lanes.ownerElsewhere(routes.matching(tenant, type));
  }

  /** Returns the reply to the process that passed these events. */
  function confirmPassed(events: readonly Event[], deliveries: StoredEvents["deliveries"]): StoredEvents {
    // an event is not confirmed if this process is stopping or overloaded
    const refusesAll = deliveries.includes(null);
    const refusedLanes = new Set<Uuid>();
    const routingVersions = new Map<string, number>();
    for (const { tenant, type } of events) {
      routingVersions.set(tenant, routes.versionOf(tenant));
      for (const { endpointId } of routes.matching(tenant, type))
        if (refusesAll || !lanes.owns(endpointId)) refusedLanes.add(endpointId);
    }
    return { deliveries, refusedLanes: [...refusedLanes], routingVersions: [...routingVersions] };
  }

  /** Forgets the routes of tenants of which another process has read other ones. */
  function compareRoutes(versions: StoredEvents["routingVersions"]): void {
    routes.forget(
      versions.filter(([tenant, version]) => routes.versionOf(tenant) !== version).map(([tenant]) => tenant),
    );
  }

  /** Returns how many of these events, from the first on, fit in one statement; a tenant may have thousands of endpoints. */
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
      await lanes.beginClaim();
      let tried: Tried;
      try {
        tried = await storing((drops) => tryOnce(batch, { workerId, tenants, drops }));
      } finally {
        lanes.endClaim();
      }
      const { plan, result, dropped } = tried;
      if (result.written) {
        const { sequences, refusedEventIds } = result;
        const refused = new Set(refusedEventIds);
        const deliveries = countByEvent(plan, result);
        reportPublished(batch, refused, deliveries);
        if (dropped.size > 0) onDropped(dropped.size);
        return { sequences, refused, deliveries, dropped };
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

  async function tryOnce(batch: FanOutBatch, { workerId, tenants, drops }: Try): Promise<Tried> {
    const planned = planDeliveries(batch, routes);
    const dropped = drops ? eventIdsOf(planned) : NONE;
    const plan = dropped.size > 0 ? NO_DELIVERIES : planned;
    lanes.reserve(plan.deliveries);
    const written: IngestBatch = {
      workerId,
      delivers: lanes.delivers,
      routes: new Map([...tenants].map((tenant) => [tenant, routes.versionOf(tenant)])),
      events: batch.fromOutbox ? [] : batch.events,
      keys: batch.keys,
      outbox: batch.fromOutbox ? batch.events : [],
      deliveries: plan.deliveries,
      collected: plan.collected,
      ...foreignLanesOf(plan.deliveries),
    };
    // events in the outbox have sequences, and a reader of one sees the earlier ones
    const needsSubjects = !batch.fromOutbox && plan.deliveries.some((row) => row.isOrdered);
    const startedAt = performance.now();
    let result: IngestResult | undefined;
    try {
      result = await (needsSubjects ? ingestInOrder(db, written) : lanes.ingest(written));
    } finally {
      lanes.apply(plan.deliveries, result?.written ? result : null);
    }
    observer.statementTook("ingest", startedAt);
    if (result.written && plan.collected.length > 0) onCollected(plan.collected);
    return { plan, result, dropped };
  }
}

const NONE: ReadonlySet<Uuid> = new Set();
const NO_DELIVERIES: Plan = { deliveries: [], collected: [] };

function eventIdsOf({ deliveries, collected }: Plan): ReadonlySet<Uuid> {
  return new Set([...deliveries, ...collected].map(({ eventId }) => eventId));
}

function foreignLanesOf(deliveries: readonly Planned[]): Pick<IngestBatch, "foreignLanes" | "peerLanes"> {
  const foreignLanes = new Set<Uuid>();
  const peerLanes = new Map<Uuid, number>();
  for (const { endpointId, isForeign, owner } of deliveries) {
    if (isForeign) foreignLanes.add(endpointId);
    if (owner !== null) peerLanes.set(endpointId, owner);
  }
  return { foreignLanes: [...foreignLanes], peerLanes };
}

function countByEvent(
  { deliveries, collected }: Plan,
  { deferredEventIds }: IngestResult,
): Map<Uuid, number | null> {
  const counts = new Map<Uuid, number | null>();
  // an event that joins a batch counts as a delivery
  for (const row of [...deliveries, ...collected])
    counts.set(row.eventId, (counts.get(row.eventId) ?? 0) + 1);
  for (const id of deferredEventIds) counts.set(id, null);
  return counts;
}
