// Creates and cancels replays, and deletes old ones.
import { lowestUuidAt, uuidTimeMs } from "@posthorn/wire";
import type { Uuid } from "../../../model.ts";
import { textArray } from "../../binary-array.ts";
import type { Database, Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type ReplayRow, replayColumns } from "./replay-row.ts";

export interface NewReplay
  extends Pick<
    ReplayRow,
    "id" | "tenant" | "endpointId" | "type" | "states" | "reason" | "rate" | "requestedBy" | "total"
  > {
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
  /** Processes ids between these two. */
  readonly position: Uuid;
  readonly before: Uuid;
}

/** Returns null if the maximum number of replays is running, for this tenant or, without one, for all. */
export async function insertReplay(
  db: Database,
  replay: NewReplay,
  mostRunning: number,
): Promise<ReplayRow | null> {
  return await db.transaction(async (tx) => {
    // so that replays created at the same time count each other; waits for running steps
    await tx.query(lockStatement);
    const [row] = await tx.query<ReplayRow>(insertStatement, [
      replay.id,
      replay.tenant,
      replay.endpointId,
      replay.type,
      replay.states && textArray(replay.states),
      replay.reason,
      replay.createdAfterMs,
      replay.createdBeforeMs,
      replay.rate,
      replay.requestedBy,
      replay.total,
      replay.position,
      replay.before,
      mostRunning,
    ]);
    return row ?? null;
  });
}

const lockStatement = statement("lock replays", "lock table posthorn.replays in share row exclusive mode");

const insertStatement = statement(
  "insert replay",
  `
insert into posthorn.replays as r (
  id, tenant, endpoint_id, type, states, reason, created_after, created_before, rate, requested_by, total, position,
  before, paced_at
)
select $1::uuid, $2::text, $3::uuid, $4::text, $5::text[], $6::text, to_timestamp($7::double precision / 1000),
  to_timestamp($8::double precision / 1000), $9::integer, $10::text, $11::integer, $12::uuid, $13::uuid,
  posthorn.now() - interval '1 second'
where (
    select count(*)
    from posthorn.replays other
    where other.state = 'running'
      and other.tenant is not distinct from $2::text
  ) < $14::integer
returning ${replayColumns}
`,
);

/** Returns null if it is not running. */
export async function cancelReplay(db: Queryable, id: Uuid): Promise<ReplayRow | null> {
  const [row] = await db.query<ReplayRow>(cancelStatement, [id]);
  return row ?? null;
}

const cancelStatement = statement(
  "cancel replay",
  `
update posthorn.replays r
set state = 'cancelled',
  ended_at = posthorn.now()
where r.id = $1::uuid
  and r.state = 'running'
returning ${replayColumns}
`,
);

/** Returns how many were deleted, at most `most`. */
export async function pruneReplays(db: Queryable, days: number, most: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(pruneStatement, [days, most]);
  return row?.count ?? 0;
}

const pruneStatement = statement(
  "prune replays",
  `
with pruned as (
  delete from posthorn.replays r
  where r.id = any (array(
      select old.id
      from posthorn.replays old
      where old.ended_at < posthorn.now() - $1::integer * interval '24 hours'
      limit $2::integer
    ))
  returning r.id
)
select count(*)::integer as count
from pruned
`,
);

/** Returns an id above all current deliveries or events, so that a replay ends even if new ones arrive. */
export async function idAboveAll(db: Queryable, of: "deliveries" | "events"): Promise<Uuid> {
  const rows = await db.query<{ id: Uuid }>(of === "events" ? newestEventStatement : newestDeliveryStatement);
  const newest = rows.map(({ id }) => uuidTimeMs(id));
  return lowestUuidAt(Math.max(0, ...newest) + 1);
}

const newestDeliveryStatement = statement(
  "newest deliveries",
  `
(select q.id from posthorn.queue q order by q.id desc limit 1)
union all
(select d.id from posthorn.deliveries d order by d.id desc limit 1)
`,
);

const newestEventStatement = statement(
  "newest event",
  "select e.id from posthorn.events e order by e.id desc limit 1",
);

/**
 * Returns the first id with complete history. Before it only dead letters remain, so it is unknown who else received an
 * event.
 */
export async function idAfterDroppedHistory(db: Queryable): Promise<Uuid> {
  const [row] = await db.query<{ upperBound: Uuid }>(droppedStatement);
  return row?.upperBound ?? lowestUuidAt(0);
}

const droppedStatement = statement(
  "dropped history",
  `
select p.upper_bound as "upperBound"
from posthorn.history_partitions() p
where p.parent = 'deliveries'
  and p.is_kept
order by p.upper_bound desc
limit 1
`,
);
