// Makes a planned step of a replay: what its rate allows becomes owed, what may not be sent is counted as skipped, and
// the replay moves on, in one transaction.
import type { Uuid } from "../model.ts";
import type { Database, Queryable } from "../storage/database.ts";
import { addMissingToNextBatch } from "../storage/queries/batches/add.ts";
import {
  type EndedDelivery,
  enqueueMissing,
  type LockedLane,
  lockLanes,
  type MissingDelivery,
  requeueMany,
} from "../storage/queries/queue/requeue-many.ts";
import {
  type Advance,
  advanceReplay,
  type HeldReplay,
  lockReplay,
} from "../storage/queries/replays/advance.ts";
import type { SkipReason } from "../storage/queries/replays/replay-row.ts";
import type { StepPlan, Wish } from "./plan-step.ts";

export interface StepResult {
  /** Endpoints in whose lanes something became owed, and the lanes' owners. */
  readonly lanes: ReadonlyMap<Uuid, number | null>;
  /** The replay is not over, and its rate is not used up. */
  readonly mayGoOn: boolean;
}

/** Null when the replay was cancelled meanwhile, or somebody else has made this step. */
export async function runStep(db: Database, seen: HeldReplay, plan: StepPlan): Promise<StepResult | null> {
  return await db.transaction(async (tx) => {
    const replay = await lockReplay(tx, seen);
    if (replay === null) return null;
    const lanes = await lockLanes(tx, [...new Set(plan.wishes.map(({ endpointId }) => endpointId))]);
    const { granted, skipped, position } = chooseWishes(plan, replay.allowance, lanes);
    const done = await grant(tx, granted, lanes, replay.createdAtMs);
    const changed = granted.length - done;
    const isFinished = position === plan.position && plan.isLast;
    const advance: Advance = {
      position,
      done,
      skipped: changed > 0 ? { ...skipped, changed } : skipped,
      isFinished,
    };
    await advanceReplay(tx, replay, advance);
    return {
      lanes: new Map(granted.map(({ endpointId: id }) => [id, lanes.get(id)?.owner ?? null])),
      mayGoOn: !isFinished && done < replay.allowance,
    };
  });
}

async function grant(
  tx: Queryable,
  wishes: readonly Wish[],
  lanes: ReadonlyMap<Uuid, LockedLane>,
  endedByMs: number,
): Promise<number> {
  const missing: MissingDelivery[] = [];
  const collected: MissingDelivery[] = [];
  const ended: EndedDelivery[] = [];
  const failed: Uuid[] = [];
  for (const { endpointId, what } of wishes) {
    if (what.kind === "missing") (what.isCollected ? collected : missing).push(what.delivery);
    else if (what.kind === "failed") failed.push(what.id);
    else if (lanes.get(endpointId)?.isOrdered && what.sequence !== null) ended.push(what);
    else ended.push({ id: what.id, subject: null, sequence: null });
  }
  if (missing.length + collected.length > 0)
    return (await enqueueMissing(tx, missing)) + (await addMissingToNextBatch(tx, collected));
  return await requeueMany(tx, { ended, failed, endedByMs });
}

export interface Choice {
  readonly granted: readonly Wish[];
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  readonly position: Uuid;
}

/** As many as are allowed; all of an event together, although they may be more: what is too much is waited for later. */
export function chooseWishes(
  plan: StepPlan,
  allowance: number,
  lanes: ReadonlyMap<Uuid, Pick<LockedLane, "closed">>,
): Choice {
  const granted: Wish[] = [];
  const skipped: Partial<Record<SkipReason, number>> = {};
  let after: Uuid | null = null;
  for (const wish of plan.wishes) {
    const isOfSameEvent = wish.after === after;
    if (granted.length >= allowance && !isOfSameEvent) return { granted, skipped, position: wish.after };
    after = wish.after;
    const lane = lanes.get(wish.endpointId);
    // without a lane even the endpoint's name is gone, together with its tenant
    const closed = lane === undefined ? "endpoint_deleted" : lane.closed;
    if (closed === null) granted.push(wish);
    else skipped[closed] = (skipped[closed] ?? 0) + 1;
  }
  return { granted, skipped, position: plan.position };
}
