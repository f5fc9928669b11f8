// One step of a replay: its row is held while it is made, so that of two processes that both believe to lead one makes
// it and the other finds it made. What became owed and how far the replay has come are committed together: a process
// that dies leaves a whole step or none.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type ReplayRow, replayColumns, type SkipReason } from "./replay-row.ts";

export interface HeldReplay extends ReplayRow {
  readonly position: Uuid;
  readonly before: Uuid;
  /** How many may become owed now, by the rate. */
  readonly allowance: number;
}

/** To plan a step by. Null: it is not running any more. */
export async function lookAtReplay(db: Queryable, id: Uuid): Promise<HeldReplay | null> {
  const [row] = await db.query<HeldReplay>(lookStatement, [id]);
  return row ?? null;
}

/** To make the step. Null: it is not running any more, or somebody else has made that step. */
export async function holdReplay(tx: Queryable, { id, position }: HeldReplay): Promise<HeldReplay | null> {
  const [row] = await tx.query<HeldReplay>(holdStatement, [id]);
  return row?.position === position ? row : null;
}

// What was not used is lost after a quarter of a second, or after the time of one: a replay that was held up does not
// make up for it, and no second has much more than the rate.
const lookText = `
select ${replayColumns}, r.position, r.before,
  floor(least(
    extract(epoch from posthorn.now() - r.paced_at) * r.rate, greatest(r.rate / 4.0, 1)
  ))::integer as allowance
from posthorn.replays r
where r.id = $1::uuid
  and r.state = 'running'
`;
const lookStatement = statement("look at replay", lookText);
const holdStatement = statement("hold replay", `${lookText}for no key update`);

export interface Advance {
  readonly position: Uuid;
  readonly done: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  readonly isFinished: boolean;
}

export async function advanceReplay(tx: Queryable, replay: HeldReplay, advance: Advance): Promise<void> {
  const skipped = { ...replay.skipped };
  for (const [reason, count] of Object.entries(advance.skipped) as [SkipReason, number][])
    skipped[reason] = (skipped[reason] ?? 0) + count;
  await tx.query(advanceStatement, [
    replay.id,
    advance.position,
    advance.done,
    JSON.stringify(skipped),
    advance.isFinished,
  ]);
}

const advanceStatement = statement(
  "advance replay",
  `
update posthorn.replays r
set position = $2::uuid,
  done = r.done + $3::integer,
  skipped = $4::text::jsonb,
  paced_at = greatest(r.paced_at, posthorn.now() - greatest(0.25, 1.0 / r.rate) * interval '1 second')
    + $3::double precision / r.rate * interval '1 second',
  state = case when $5::boolean then 'finished' else r.state end,
  ended_at = case when $5::boolean then posthorn.now() end
where r.id = $1::uuid
`,
);
