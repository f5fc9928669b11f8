// Cancels the queued deliveries of deleted endpoints, or of a discarded backlog: they become dead. Deliveries in flight
// are left to their worker.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Database, Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export type CancelReason = "endpoint_deleted" | "discarded" | "cancelled";

/** Returns how many were cancelled. Each step is a transaction, so that a large backlog is not one. */
export async function cancelQueued(
  db: Queryable,
  endpointIds: readonly Uuid[],
  reason: CancelReason = "endpoint_deleted",
  { onlyWhilePaused = false } = {},
): Promise<number> {
  let total = 0;
  for (;;) {
    const [row] = await db.query<{ count: number }>(cancelStatement, [
      uuidArray(endpointIds),
      reason,
      STEP,
      onlyWhilePaused,
    ]);
    const count = row?.count ?? 0;
    total += count;
    if (count < STEP) return total;
  }
}

const STEP = 5_000;

const cancelStatement = statement(
  "cancel queued",
  `
with cancelled as (
  delete from posthorn.queue q
  where q.id = any (array(
      select queued.id
      from posthorn.queue queued
      where queued.endpoint_id = any ($1::uuid[])
        and queued.claimed_by is null
        -- the endpoint was enabled meanwhile: newer deliveries are not part of the discarded backlog
        and (
          not $4::boolean
          or exists (select from posthorn.lanes l where l.endpoint_id = queued.endpoint_id and l.paused)
        )
      limit $3::integer
      for update skip locked
    ))
    and q.claimed_by is null
  returning q.id, q.event_id, q.endpoint_id, q.attempts, q.replay_count
),
history as (
  insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
  select c.id, c.event_id, c.endpoint_id, 'dead', $2::text, c.attempts, c.replay_count, posthorn.now()
  from cancelled c
)
select count(*)::integer as count
from cancelled
`,
);

/**
 * Cancels deliveries that were queued while their endpoint was being deleted, or that returned from a last attempt. Run
 * by maintenance; reads one index entry per lane, whatever the backlog.
 */
export async function cancelForDeletedEndpoints(db: Database): Promise<number> {
  const orphaned = await db.query<{ endpoint_id: Uuid }>(orphanedStatement);
  if (orphaned.length === 0) return 0;
  return await cancelQueued(
    db,
    orphaned.map((row) => row.endpoint_id),
  );
}

const orphanedStatement = statement(
  "orphaned endpoints",
  `
with recursive lane as (
  (
    select q.endpoint_id
    from posthorn.queue q
    where q.claimed_by is null
    order by q.endpoint_id
    limit 1
  )
  union all
  select (
    select q.endpoint_id
    from posthorn.queue q
    where q.claimed_by is null
      and q.endpoint_id > lane.endpoint_id
    order by q.endpoint_id
    limit 1
  )
  from lane
  where lane.endpoint_id is not null
)
select lane.endpoint_id
from lane
where lane.endpoint_id is not null
  and not exists (
    select
    from posthorn.endpoints ep
    where ep.id = lane.endpoint_id
      and ep.deleted_at is null
  )
`,
);
