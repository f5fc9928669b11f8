// The outcomes of the events of a page: their deliveries by state, read for all of them at once.

import { deliveryIdOf } from "../../fan-out/delivery-id.ts";
import type { Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { type DeliveryState, findDeliveries } from "../../storage/queries/deliveries/read.ts";
import {
  batchesOfEvents,
  countStatesOfEvents,
  eventsInOutbox,
  MOST_COUNTED,
} from "../../storage/queries/events/outcomes.ts";

export type EventOutcomeState = "delivered" | "waiting" | "failed" | "dead" | "unmatched";

export interface EventOutcome {
  /** The worst of its deliveries. `unmatched`: it has no delivery, and will have none. */
  readonly state: EventOutcomeState;
  /** The deliveries, to one endpoint each. The four numbers below add up to it. */
  readonly deliveries: number;
  readonly delivered: number;
  /** Retried automatically. */
  readonly failed: number;
  readonly dead: number;
  /** Not attempted yet, in flight, or waiting for a batch. */
  readonly waiting: number;
}

const NOTHING = { delivered: 0, failed: 0, dead: 0, waiting: 0 };
type Counts = { -readonly [Name in keyof typeof NOTHING]: number };

const COUNTED_AS: Readonly<Record<DeliveryState, keyof Counts>> = {
  success: "delivered",
  failed: "failed",
  dead: "dead",
  pending: "waiting",
  in_flight: "waiting",
};

/** Events with too many deliveries to count for a list are left out. */
export async function outcomesOf(
  db: Queryable,
  eventIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, EventOutcome>> {
  if (eventIds.length === 0) return new Map();
  const waiting = new Set((await eventsInOutbox(db, eventIds)).map(({ eventId }) => eventId));
  const batches = await batchesOfEvents(db, eventIds);
  const counted = await countStatesOfEvents(db, eventIds);
  const counts = new Map<Uuid, Counts>();
  const add = (eventId: Uuid, state: DeliveryState, count = 1) => {
    const own = counts.get(eventId) ?? { ...NOTHING };
    own[COUNTED_AS[state]] += count;
    counts.set(eventId, own);
  };
  for (const { eventId, state, count } of counted) add(eventId, state, count);
  const incomplete = incompleteTimes(counted);
  for (const [eventId, state] of await batchStates(db, batches)) add(eventId, state);
  const outcomes = eventIds.flatMap((id): [Uuid, EventOutcome][] => {
    if (incomplete.has(timeOf(id))) return [];
    return [[id, toOutcome(counts.get(id) ?? NOTHING, waiting.has(id))]];
  });
  return new Map(outcomes);
}

/** The milliseconds whose deliveries were not all counted. */
function incompleteTimes(counted: Awaited<ReturnType<typeof countStatesOfEvents>>): ReadonlySet<string> {
  const totals = new Map<string, number>();
  for (const { eventId, count } of counted) {
    const time = timeOf(eventId);
    totals.set(time, (totals.get(time) ?? 0) + count);
  }
  return new Set([...totals].flatMap(([time, total]) => (total >= MOST_COUNTED ? [time] : [])));
}

/** The part of a UUIDv7 that is its time. */
function timeOf(id: Uuid): string {
  return id.slice(0, 13);
}

/** The state of each event for each endpoint that receives batches. */
async function batchStates(
  db: Queryable,
  batches: Awaited<ReturnType<typeof batchesOfEvents>>,
): Promise<[Uuid, DeliveryState][]> {
  if (batches.length === 0) return [];
  const deliveryOf = ({ batchId, endpointId }: (typeof batches)[number]) =>
    batchId === null ? null : deliveryIdOf(batchId, endpointId);
  const ids = new Set(batches.map(deliveryOf).filter((id) => id !== null));
  const states = new Map((await findDeliveries(db, [...ids])).map(({ id, state }) => [id, state]));
  return batches.flatMap((batch): [Uuid, DeliveryState][] => {
    const id = deliveryOf(batch);
    const state = id === null ? "pending" : states.get(id);
    return state === undefined ? [] : [[batch.eventId, state]];
  });
}

function toOutcome(counts: Counts, isInOutbox: boolean): EventOutcome {
  const { delivered, failed, dead, waiting } = counts;
  return { state: stateOf(counts, isInOutbox), deliveries: delivered + failed + dead + waiting, ...counts };
}

function stateOf({ delivered, failed, dead, waiting }: Counts, isInOutbox: boolean): EventOutcomeState {
  if (dead > 0) return "dead";
  if (failed > 0) return "failed";
  if (waiting > 0 || isInOutbox) return "waiting";
  return delivered > 0 ? "delivered" : "unmatched";
}
