// Cancels queued deliveries, which become dead: those of deleted endpoints, of a discarded backlog, or one. Deliveries in
// flight are left to their worker.
import type { Uuid } from "../../../model.ts";
import type { Database, Queryable } from "../../database.ts";
import { column, firstRow, hasRow, run, value } from "../../query.ts";
import { holdsSubjects } from "../endpoints/ordering.ts";
import { lockLane } from "../lanes/lock.ts";

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
    const count = await cancelStep(db, endpointIds, reason, STEP, onlyWhilePaused);
    total += count;
    if (count < STEP) return total;
  }
}

const STEP = 5_000;

const cancelStep = value<
  number,
  [endpointIds: readonly Uuid[], reason: CancelReason, limit: number, onlyWhilePaused: boolean]
>("cancel queued")`
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
`;

/**
 * Cancels deliveries that were queued while their endpoint was being deleted, or that returned from a last attempt. Run
 * by maintenance; reads one index entry per lane, whatever the backlog.
 */
export async function cancelForDeletedEndpoints(db: Queryable): Promise<number> {
  const endpointIds = await orphanedEndpoints(db);
  return endpointIds.length === 0 ? 0 : await cancelQueued(db, endpointIds);
}

const orphanedEndpoints = column<Uuid>("orphaned endpoints")`
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
`;

export type CancelResult =
  | {
      readonly kind: "cancelled";
      readonly endpointId: Uuid;
      readonly owner: number | null;
      /** Other deliveries may wait for it. */
      readonly isOrdered: boolean;
    }
  | { readonly kind: "not_found" | "in_flight" | "over" };

interface Known {
  readonly endpointId: Uuid;
  readonly state: string;
  readonly isOrdered: boolean;
}

/**
 * Cancels a queued delivery that is not in flight: dead, with the reason `cancelled`. At a `fifo` endpoint others may
 * wait for it: the endpoint's version is incremented, so that the lane's owner, which alone promotes, promotes the next.
 */
export async function cancelDelivery(db: Database, deliveryId: Uuid): Promise<CancelResult> {
  return await db.transaction(async (tx) => {
    const known = await find(tx, deliveryId);
    if (known === null) return { kind: "not_found" };
    if (known.state === "success" || known.state === "dead") return { kind: "over" };
    const owner = await lock(tx, known);
    // false: it was claimed meanwhile
    return (await cancel(tx, deliveryId)) ? { kind: "cancelled", owner, ...known } : { kind: "in_flight" };
  });
}

const find = firstRow<Known, [deliveryId: Uuid]>("find to cancel")`
select d.endpoint_id as "endpointId", d.state,
  exists (select from posthorn.queue q where q.id = d.id and q.subject is not null)
    or exists (
      select
      from posthorn.held_subjects h
      join posthorn.events e on e.subject = h.subject and e.sequence = h.sequence
      where e.id = d.event_id
        and h.endpoint_id = d.endpoint_id
    ) as "isOrdered"
from posthorn.delivery_states_of(array[$1::uuid]) d
`;

/** Locks the endpoint, then its lane. Returns the lane's owner; the next owner promotes the next delivery. */
async function lock(tx: Queryable, { endpointId, isOrdered }: Known): Promise<number | null> {
  if (!isOrdered) return null;
  await raiseVersion(tx, endpointId);
  return (await lockLane(tx, endpointId))?.owner ?? null;
}

const raiseVersion = run<[endpointId: Uuid]>("increment endpoint version to cancel")`
update posthorn.endpoints
set version = version + 1
where id = $1::uuid
`;

const cancel = hasRow<[deliveryId: Uuid]>("cancel one")`
with cancelled as (
  delete from posthorn.queue q
  where q.id = $1::uuid
    and q.claimed_by is null
  returning q.id, q.event_id, q.endpoint_id, q.attempts, q.replay_count, q.subject, q.sequence
),
-- like any dead delivery
held as (
  insert into posthorn.held_subjects (endpoint_id, subject, sequence, delivery_id)
  select c.endpoint_id, c.subject, c.sequence, c.id
  from cancelled c
  join posthorn.endpoints ep on ep.id = c.endpoint_id
  cross join posthorn.endpoint_defaults defaults
  where c.subject is not null
    and ${holdsSubjects}
    and ep.deleted_at is null
)
insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
select c.id, c.event_id, c.endpoint_id, 'dead', 'cancelled', c.attempts, c.replay_count, posthorn.now()
from cancelled c
returning id
`;
