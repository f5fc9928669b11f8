// Runs a planned step of a replay in one transaction: enqueues what the rate allows, counts what cannot be sent as
// skipped, and advances the replay.
import type { Uuid } from "../model.ts";
import type { Database, Queryable } from "../storage/database.ts";
import { addMissingToNextBatch } from "../storage/queries/batches/add.ts";
import { type LockedLane, lockLanes } from "../storage/queries/lanes/lock.ts";
import {
  type EndedDelivery,
  enqueueMissing,
  type MissingDelivery,
  requeueMany,
} from "../storage/queries/queue/requeue-many.ts";
import {
  type Advance,
  advanceReplay,
  type LockedReplay,
  lockReplay,
} from "../storage/queries/replays/advance.ts";
import type { SkipReason } from "../storage/queries/replays/replays.ts";
import type { PlannedDelivery, StepPlan } from "./plan-step.ts";

export interface StepResult {
  /** Endpoints with new deliveries, and the owners of their lanes. */
  readonly lanes: ReadonlyMap<Uuid, number | null>;
  /** The replay has not ended and its rate is not used up. */
  readonly mayContinue: boolean;
}

/** Returns null if the replay was cancelled, or another process has run this step. */
export async function runStep(db: Database, seen: LockedReplay, plan: StepPlan): Promise<StepResult | null> {
  return await db.transaction(async (tx) => {
    const replay = await lockReplay(tx, seen);
    if (replay === null) return null;
    const lanes = await lockLanes(tx, [...new Set(plan.deliveries.map(({ endpointId }) => endpointId))]);
    const { chosen, skipped, position } = chooseDeliveries(plan, replay.allowance, lanes);
    const done = await enqueue(tx, chosen, lanes, replay);
    const changed = chosen.length - done;
    const isFinished = position === plan.position && plan.isLast;
    const advance: Advance = {
      position,
      done,
      skipped: changed > 0 ? { ...skipped, changed } : skipped,
      isFinished,
    };
    await advanceReplay(tx, replay, advance);
    return {
      lanes: new Map(chosen.map(({ endpointId: id }) => [id, lanes.get(id)?.owner ?? null])),
      mayContinue: !isFinished && done < replay.allowance,
    };
  });
}

async function enqueue(
  tx: Queryable,
  deliveries: readonly PlannedDelivery[],
  lanes: ReadonlyMap<Uuid, LockedLane>,
  { id: replayId, startedAtMs: endedByMs }: LockedReplay,
): Promise<number> {
  const missing: MissingDelivery[] = [];
  const batched: MissingDelivery[] = [];
  const ended: EndedDelivery[] = [];
  const failed: Uuid[] = [];
  for (const { endpointId, what } of deliveries) {
    if (what.kind === "missing") (what.isBatched ? batched : missing).push(what.delivery);
    else if (what.kind === "failed") failed.push(what.id);
    else if (lanes.get(endpointId)?.isOrdered && what.sequence !== null) ended.push(what);
    else ended.push({ id: what.id, subject: null, sequence: null });
  }
  if (missing.length + batched.length > 0)
    return (await enqueueMissing(tx, replayId, missing)) + (await addMissingToNextBatch(tx, batched));
  return await requeueMany(tx, { replayId, ended, failed, endedByMs });
}

export interface Choice {
  readonly chosen: readonly PlannedDelivery[];
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  readonly position: Uuid;
}

/** Chooses as many as the rate allows, but all of an event together; the excess delays the next step. */
export function chooseDeliveries(
  plan: StepPlan,
  allowance: number,
  lanes: ReadonlyMap<Uuid, Pick<LockedLane, "pausedReason">>,
): Choice {
  const chosen: PlannedDelivery[] = [];
  const skipped: Partial<Record<SkipReason, number>> = {};
  let after: Uuid | null = null;
  for (const planned of plan.deliveries) {
    const isOfSameEvent = planned.after === after;
    if (chosen.length >= allowance && !isOfSameEvent) return { chosen, skipped, position: planned.after };
    after = planned.after;
    const lane = lanes.get(planned.endpointId);
    // without a lane, the endpoint was deleted together with its tenant
    const pausedReason = lane === undefined ? "endpoint_deleted" : lane.pausedReason;
    if (pausedReason === null) chosen.push(planned);
    else skipped[pausedReason] = (skipped[pausedReason] ?? 0) + 1;
  }
  return { chosen, skipped, position: plan.position };
}
