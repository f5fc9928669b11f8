// What a replay selects, which is decided when it starts: what exists then, and how much that is.
import type { LoadRoutes } from "../fan-out/routes.ts";
import type { Uuid } from "../model.ts";
import { endpointsAsked } from "../resources/deliveries/deliveries.ts";
import type { Queryable } from "../storage/database.ts";
import { countDeliveries } from "../storage/queries/deliveries/walk.ts";
import { idAboveAll, idAfterDroppedHistory } from "../storage/queries/replays/replays.ts";
import { planStep, type Range } from "./plan-step.ts";

export interface CountedRange {
  readonly count: number;
  /** False: `count` is a lower bound. */
  readonly isExact: boolean;
}

/** Upper bound of counting before a replay starts. */
const COUNT_UP_TO = 100_000;
const PREVIEW_STEPS = 10;

/** Restricts the range that was asked for to what exists now. */
export async function rangeNow<Asked extends Omit<Range, "startedAtMs">>(
  db: Queryable,
  asked: Asked,
  nowMs: number,
): Promise<Asked & Range> {
  const isAboutEvents = asked.states === null;
  const afterAll = await idAboveAll(db, isAboutEvents ? "events" : "deliveries");
  const first = isAboutEvents ? later(asked.position, await idAfterDroppedHistory(db)) : asked.position;
  return {
    ...asked,
    position: first,
    before: afterAll < asked.before ? afterAll : asked.before,
    startedAtMs: nowMs,
  };
}

export async function countRange(db: Queryable, range: Range, loadRoutes: LoadRoutes): Promise<CountedRange> {
  if (range.states === null) return await countMissing(db, range, loadRoutes);
  return await countDeliveries(db, {
    after: range.position,
    before: range.before,
    direction: "oldest_first",
    limit: COUNT_UP_TO,
    endpointIds: await endpointsAsked(db, { ...range, endpoint: range.endpointId }),
    states: range.states,
    type: range.type,
    deadReason: range.reason,
  });
}

async function countMissing(db: Queryable, range: Range, loadRoutes: LoadRoutes): Promise<CountedRange> {
  let count = 0;
  let { position } = range;
  for (let step = 0; step < PREVIEW_STEPS; step += 1) {
    const plan = await planStep(db, { ...range, position }, { limit: 0, loadRoutes });
    count += plan.deliveries.length;
    if (plan.isLast) return { count, isExact: true };
    position = plan.position;
  }
  return { count, isExact: false };
}

function later(a: Uuid, b: Uuid | null): Uuid {
  return b !== null && b > a ? b : a;
}
