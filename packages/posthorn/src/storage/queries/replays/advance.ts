// Runs one step of a replay while holding its row, so that of two processes that both believe to lead only one runs it.
// Deliveries and progress are committed together: a crash leaves a whole step or none.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { fields, firstRow, run } from "../../query.ts";
import { type ReplayRow, replayColumns, type SkipReason } from "./replays.ts";

export interface LockedReplay extends ReplayRow {
  readonly position: Uuid;
  readonly before: Uuid;
  readonly startedAtMs: number;
  /** How many deliveries the rate allows now. */
  readonly allowance: number;
}

// Unused rate expires after a quarter of a second, or after the time of one delivery: a delayed replay does not catch
// up, and no second much exceeds the rate.
const lookText = `
select ${replayColumns}, r.position, r.before,
  floor(least(
    extract(epoch from posthorn.now() - r.paced_at) * r.rate, greatest(r.rate / 4.0, 1)
  ))::integer as allowance
from posthorn.replays r
where r.id = $1::uuid
  and r.state = 'running'
`;

/** Reads a replay to plan a step. Null: it is not running. */
export const readReplay = firstRow<LockedReplay, [id: Uuid]>("look at replay")`${lookText}`;

const hold = firstRow<LockedReplay, [id: Uuid]>("hold replay")`${lookText}for no key update`;

/** Locks a replay to run the step. Null: it is not running, or another process has run that step. */
export async function lockReplay(tx: Queryable, replay: LockedReplay): Promise<LockedReplay | null> {
  const held = await hold(tx, replay.id);
  return held?.position === replay.position ? held : null;
}

export interface Advance {
  readonly position: Uuid;
  readonly done: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  readonly isFinished: boolean;
}

export async function advanceReplay(tx: Queryable, replay: LockedReplay, advance: Advance): Promise<void> {
  const skipped = { ...replay.skipped };
  for (const [reason, count] of Object.entries(advance.skipped) as [SkipReason, number][])
    skipped[reason] = (skipped[reason] ?? 0) + count;
  await advanceTo(tx, replay.id, { ...advance, skipped });
}

const advanceTo = run<[id: Uuid, Advance]>("advance replay", (id, advance) => [
  id,
  ...fields("position", "done", "skipped", "isFinished")(advance),
])`
update posthorn.replays r
set position = $2::uuid,
  done = r.done + $3::integer,
  skipped = $4::text::jsonb,
  paced_at = greatest(r.paced_at, posthorn.now() - greatest(0.25, 1.0 / r.rate) * interval '1 second')
    + $3::double precision / r.rate * interval '1 second',
  state = case when $5::boolean then 'finished' else r.state end,
  ended_at = case when $5::boolean then posthorn.now() end
where r.id = $1::uuid
`;
