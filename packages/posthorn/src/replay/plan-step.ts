// What the next step of a replay is about: deliveries that have ended or failed, or, against the subscriptions of
// today, deliveries that an event never had. Reads only; whoever acts on it looks again under locks.
import { deliveryIdOf } from "../fan-out/delivery-id.ts";
import { isAbout } from "../fan-out/matches.ts";
import { Routes, type TenantRoutes } from "../fan-out/routes.ts";
import type { Uuid } from "../model.ts";
import type { Queryable } from "../storage/database.ts";
import { walkDeliveries } from "../storage/queries/deliveries/walk.ts";
import { endpointIdsOf } from "../storage/queries/endpoints/read.ts";
import { eventsBetween, existingDeliveries } from "../storage/queries/events/stretch.ts";
import type { EndedDelivery, MissingDelivery } from "../storage/queries/queue/owe-many.ts";
import type { HeldReplay } from "../storage/queries/replays/advance.ts";

export interface StepPlan {
  /** In the order in which they are to be owed. */
  readonly wishes: readonly Wish[];
  /** Where the replay stands when all of them are granted or refused. */
  readonly position: Uuid;
  readonly isLast: boolean;
}

/** One delivery that is to be owed. */
export interface Wish {
  /** The position from which it is found again. */
  readonly after: Uuid;
  readonly endpointId: Uuid;
  readonly what:
    | ({ readonly kind: "ended" } & EndedDelivery)
    | { readonly kind: "failed"; readonly id: Uuid }
    | { readonly kind: "missing"; readonly delivery: MissingDelivery };
}

export type LoadRoutes = (tenants: readonly string[]) => Promise<ReadonlyMap<string, TenantRoutes>>;

/** What a step looks at, of which a replay needs this much. */
export type Range = Pick<
  HeldReplay,
  "tenant" | "endpointId" | "type" | "states" | "reason" | "position" | "before" | "createdAtMs"
>;

export async function planStep(
  db: Queryable,
  range: Range,
  { limit, loadRoutes }: { readonly limit: number; readonly loadRoutes: LoadRoutes },
): Promise<StepPlan> {
  return range.states === null
    ? await planMissing(db, range, loadRoutes)
    : await planAgain(db, range, range.states, limit);
}

async function planAgain(
  db: Queryable,
  range: Range,
  states: NonNullable<Range["states"]>,
  limit: number,
): Promise<StepPlan> {
  const { rows, lookedUpTo } = await walkDeliveries(db, {
    after: range.position,
    before: range.before,
    direction: "oldest_first",
    limit,
    endpointIds: await endpointsOf(db, range),
    states,
    type: range.type,
    deadReason: range.reason,
    endedByMs: range.createdAtMs,
  });
  const wishes = rows.map(({ id, endpointId, state, subject, sequence }, index): Wish => {
    const what =
      state === "failed"
        ? ({ kind: "failed", id } as const)
        : ({ kind: "ended", id, subject, sequence } as const);
    return { after: rows[index - 1]?.id ?? range.position, endpointId, what };
  });
  const last = rows.length === limit ? rows.at(-1)?.id : lookedUpTo;
  return { wishes, position: last ?? range.before, isLast: last == null };
}

/** Null: of all. A tenant's, deleted ones included, so that their deliveries are counted as skipped. */
export async function endpointsOf(
  db: Queryable,
  { tenant, endpointId }: Pick<Range, "tenant" | "endpointId">,
): Promise<readonly Uuid[] | null> {
  if (tenant !== null) return await endpointIdsOf(db, tenant, endpointId);
  return endpointId === null ? null : [endpointId];
}

/** Of events without payload; and of deliveries, so that an event with thousands of endpoints is a step of its own. */
const EVENTS_PER_STEP = 1_000;
const DELIVERIES_PER_STEP = 5_000;

async function planMissing(db: Queryable, range: Range, loadRoutes: LoadRoutes): Promise<StepPlan> {
  const { position: after, before, tenant } = range;
  const events = await eventsBetween(db, { after, before, tenant, limit: EVENTS_PER_STEP });
  const routes = new Routes(loadRoutes);
  await routes.ensure(new Set(events.map((event) => event.tenant)));
  const wanted: (Wish & { readonly what: { readonly kind: "missing" } })[] = [];
  let position = after;
  let isCutShort = false;
  for (const event of events) {
    isCutShort = wanted.length > DELIVERIES_PER_STEP;
    if (isCutShort) break;
    const isAsked = !event.isInOutbox && (range.type === null || range.type === event.type);
    for (const target of isAsked ? routes.matching(event.tenant, event.type) : []) {
      const { endpointId, ordering } = target;
      if (isAbout(event, endpointId)) continue;
      if (range.endpointId !== null && range.endpointId !== endpointId) continue;
      const isOrdered = ordering === "fifo" && event.sequence !== null;
      const delivery: MissingDelivery = {
        id: deliveryIdOf(event.id, endpointId),
        eventId: event.id,
        endpointId,
        subject: isOrdered ? event.subject : null,
        sequence: isOrdered ? event.sequence : null,
      };
      wanted.push({ after: position, endpointId, what: { kind: "missing", delivery } });
    }
    position = event.id;
  }
  const existing = await existingDeliveries(
    db,
    wanted.map(({ what }) => what.delivery.id),
  );
  const isLast = !isCutShort && events.length < EVENTS_PER_STEP;
  return {
    wishes: wanted.filter(({ what }) => !existing.has(what.delivery.id)),
    position: isLast ? before : position,
    isLast,
  };
}
