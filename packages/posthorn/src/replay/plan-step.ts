// Plans the next step of a replay: finished or failed deliveries, or deliveries that are missing for current
// subscriptions. Reads only; running the step checks again under locks.
import { deliveryIdOf } from "../fan-out/delivery-id.ts";
import { failedCondition, readFacts } from "../fan-out/filter.ts";
import { isAbout } from "../fan-out/matches.ts";
import { type LoadRoutes, Routes } from "../fan-out/routes.ts";
import { batchEncodingOf } from "../formats/formats.ts";
import type { Target, Uuid } from "../model.ts";
import { endpointsAsked } from "../resources/deliveries/deliveries.ts";
import type { Queryable } from "../storage/database.ts";
import { inBatches } from "../storage/queries/batches/add.ts";
import { walkDeliveries } from "../storage/queries/deliveries/walk.ts";
import {
  eventsBetween,
  existingDeliveries,
  payloadsOf,
  type RangeEvent,
} from "../storage/queries/events/range.ts";
import type { EndedDelivery, MissingDelivery } from "../storage/queries/queue/requeue-many.ts";
import type { LockedReplay } from "../storage/queries/replays/advance.ts";

export interface StepPlan {
  /** In the order of enqueueing. */
  readonly deliveries: readonly PlannedDelivery[];
  /** The replay's position after the step. */
  readonly position: Uuid;
  readonly isLast: boolean;
}

/** A delivery to enqueue. */
export interface PlannedDelivery {
  /** The position before it. */
  readonly after: Uuid;
  readonly endpointId: Uuid;
  readonly what:
    | ({ readonly kind: "ended" } & EndedDelivery)
    | { readonly kind: "failed"; readonly id: Uuid }
    | {
        readonly kind: "missing";
        readonly delivery: MissingDelivery;
        /** It is added to the endpoint's next batch. */
        readonly isBatched: boolean;
      };
}

/** The fields of a replay that a step needs. */
export type Range = Pick<
  LockedReplay,
  "tenant" | "endpointId" | "type" | "states" | "reason" | "position" | "before" | "startedAtMs"
>;

export async function planStep(
  db: Queryable,
  range: Range,
  { limit, loadRoutes }: { readonly limit: number; readonly loadRoutes: LoadRoutes },
): Promise<StepPlan> {
  return range.states === null
    ? await planMissing(db, range, loadRoutes)
    : await planExisting(db, range, range.states, limit);
}

async function planExisting(
  db: Queryable,
  range: Range,
  states: NonNullable<Range["states"]>,
  limit: number,
): Promise<StepPlan> {
  const { rows, examinedUpTo } = await walkDeliveries(db, {
    after: range.position,
    before: range.before,
    direction: "oldest_first",
    limit,
    // deleted endpoints of a tenant included, so that their deliveries are counted as skipped
    endpointIds: await endpointsAsked(db, { ...range, endpoint: range.endpointId }),
    states,
    type: range.type,
    deadReason: range.reason,
    endedByMs: range.startedAtMs,
  });
  const deliveries = rows.map(({ id, endpointId, state, subject, sequence }, index): PlannedDelivery => {
    const what =
      state === "failed"
        ? ({ kind: "failed", id } as const)
        : ({ kind: "ended", id, subject, sequence } as const);
    return { after: rows[index - 1]?.id ?? range.position, endpointId, what };
  });
  const last = rows.length === limit ? rows.at(-1)?.id : examinedUpTo;
  return { deliveries, position: last ?? range.before, isLast: last == null };
}

/**
 * Events per step, without payloads. Limits deliveries too, so that an event with thousands of endpoints is a step of
 * its own.
 */
const EVENTS_PER_STEP = 1_000;
const DELIVERIES_PER_STEP = 5_000;

async function planMissing(db: Queryable, range: Range, loadRoutes: LoadRoutes): Promise<StepPlan> {
  const { position: after, before, tenant } = range;
  const events = await eventsBetween(db, { after, before, tenant, limit: EVENTS_PER_STEP });
  const routes = new Routes(loadRoutes);
  await routes.ensure(new Set(events.map((event) => event.tenant)));
  const wanted: Wanted[] = [];
  let position = after;
  let isCutShort = false;
  for (const event of events) {
    isCutShort = wanted.length > DELIVERIES_PER_STEP;
    if (isCutShort) break;
    const isAsked = !event.isInOutbox && (range.type === null || range.type === event.type);
    for (const target of isAsked ? routes.matching(event.tenant, event.type) : []) {
      const { endpointId, ordering } = target;
      if (isAbout(event, endpointId)) continue;
      if (!target.destination.acceptsReplays) continue;
      if (range.endpointId !== null && range.endpointId !== endpointId) continue;
      const isOrdered = ordering === "fifo" && event.sequence !== null;
      const delivery: MissingDelivery = {
        id: deliveryIdOf(event.id, endpointId),
        eventId: event.id,
        endpointId,
        subject: isOrdered ? event.subject : null,
        sequence: isOrdered ? event.sequence : null,
      };
      wanted.push({ after: position, event, target, delivery });
    }
    position = event.id;
  }
  const deliveries = wanted.map(({ delivery }) => delivery);
  const ids = deliveries.map(({ id }) => id);
  const existing = new Set(await existingDeliveries(db, ids));
  // also for endpoints that no longer use batches
  const batched = await inBatches(db, deliveries);
  const missing = wanted.filter(
    ({ delivery: { id, eventId, endpointId } }) =>
      !existing.has(id) && !batched.has(`${eventId} ${endpointId}`),
  );
  const isLast = !isCutShort && events.length < EVENTS_PER_STEP;
  return {
    deliveries: (await matchingFilters(db, missing)).map(({ after, target, delivery }) => ({
      after,
      endpointId: target.endpointId,
      what: { kind: "missing", delivery, isBatched: batchEncodingOf(target.format) !== null },
    })),
    position: isLast ? before : position,
    isLast,
  };
}

interface Wanted {
  readonly after: Uuid;
  readonly event: RangeEvent;
  readonly target: Target;
  readonly delivery: MissingDelivery;
}

/** Number of payloads in memory at a time: at most 5 MB. */
const PAYLOADS_AT_A_TIME = 20;

/** Reads payloads only if a filter needs them. */
async function matchingFilters(db: Queryable, wanted: readonly Wanted[]): Promise<Wanted[]> {
  const asked = [...new Set(wanted.flatMap(({ event, target }) => (target.filter === null ? [] : event.id)))];
  const passing = new Set(wanted.filter(({ target }) => target.filter === null));
  for (let at = 0; at < asked.length; at += PAYLOADS_AT_A_TIME) {
    const payloads = await payloadsOf(db, asked.slice(at, at + PAYLOADS_AT_A_TIME));
    for (const one of wanted) {
      const { event, target } = one;
      const payload = payloads.get(event.id);
      if (target.filter === null || payload === undefined) continue;
      const facts = readFacts({ payload, subject: event.subject });
      if (failedCondition(target.filter, facts) === null) passing.add(one);
    }
  }
  return wanted.filter((one) => passing.has(one));
}
