// Enqueues the deliveries of a replay step: finished or failed ones again, and missing ones for the first time. Like a
// manual retry (requeue.ts), except for the trigger and the replay count.
import type { Uuid } from "../../../model.ts";
import { int8Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type ClosedLane, hasNoGrant } from "./requeue.ts";

export interface LockedLane {
  readonly endpointId: Uuid;
  readonly owner: number | null;
  /** Null: not paused. */
  readonly closed: ClosedLane["because"] | null;
  /** The endpoint receives the events of a subject in order. */
  readonly isOrdered: boolean;
}

/** Locks lanes in the order of ids, the order of every transaction. Lanes of deleted endpoints may be missing. */
export async function lockLanes(
  tx: Queryable,
  endpointIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, LockedLane>> {
  const locked = await tx.query<{ endpointId: Uuid }>(lockStatement, [uuidArray(endpointIds)]);
  const ids = locked.map(({ endpointId }) => endpointId);
  const rows = await tx.query<LockedLane>(readLockedStatement, [uuidArray(ids)]);
  return new Map(rows.map((row) => [row.endpointId, row]));
}

const lockStatement = statement(
  "lock lanes",
  `
with locked as materialized (
  select l.endpoint_id, l.owner, l.paused
  from posthorn.lanes l
  where l.endpoint_id = any ($1::uuid[])
  order by l.endpoint_id
  for no key update
),
made_ready as (
  update posthorn.lanes l
  set ready_at = least(l.ready_at, posthorn.now())
  where l.endpoint_id = any (array(select locked.endpoint_id from locked where not locked.paused and locked.owner is null))
)
select locked.endpoint_id as "endpointId"
from locked
`,
);

// A separate statement: the one that waited for the lock still sees the endpoint as it was before the change it waited
// for.
const readLockedStatement = statement(
  "read locked lanes",
  `
select l.endpoint_id as "endpointId", l.owner,
  case
    when not l.paused then null
    when ep.deleted_at is not null then 'endpoint_deleted'
    when not ep.is_active then 'endpoint_disabled'
    when ${hasNoGrant} then 'endpoint_not_agreed'
    else 'tenant_inactive'
  end as closed,
  coalesce(ep.ordering = 'fifo', false) as "isOrdered"
from posthorn.lanes l
join posthorn.endpoints ep on ep.id = l.endpoint_id
where l.endpoint_id = any ($1::uuid[])
`,
);

/** A finished delivery. The sequence puts it before later ones if the endpoint is ordered now; otherwise null. */
export interface EndedDelivery {
  readonly id: Uuid;
  readonly subject: string | null;
  readonly sequence: number | null;
}

export interface AgainOptions {
  /** Sorted by id, for the binary search in the statement. */
  readonly ended: readonly EndedDelivery[];
  readonly failed: readonly Uuid[];
  /** Deliveries that ended later were sent again by someone else. */
  readonly endedByMs: number;
}

/** Returns how many were enqueued; the others are in flight or have ended again since. */
export async function requeueMany(
  tx: Queryable,
  { ended, failed, endedByMs }: AgainOptions,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(requeueManyStatement, [
    uuidArray(ended.map(({ id }) => id)),
    uuidArray(failed),
    endedByMs,
    textArray(ended.map(({ subject }) => subject)),
    int8Array(ended.map(({ sequence }) => sequence)),
  ]);
  return row?.count ?? 0;
}

const requeueManyStatement = statement(
  "requeue many",
  `
with revived as (
  delete from posthorn.deliveries d
  where d.id = any ($1::uuid[])
    and d.finished_at <= to_timestamp($3::double precision / 1000)
  returning d.id, d.event_id, d.endpoint_id, d.attempts, d.replay_count,
    ($4::text[])[width_bucket(d.id, $1::uuid[])] as subject,
    ($5::bigint[])[width_bucket(d.id, $1::uuid[])] as sequence
),
released as (
  delete from posthorn.held_subjects h
  where h.delivery_id = any (array(select revived.id from revived where revived.sequence is not null))
    and h.endpoint_id = any (array(select revived.endpoint_id from revived where revived.sequence is not null))
),
requeued as (
  insert into posthorn.queue (
    id, event_id, endpoint_id, next_at, schedule_started_at, attempts, replay_count, trigger, subject, sequence
  )
  select r.id, r.event_id, r.endpoint_id, posthorn.now(), posthorn.now(), r.attempts, r.replay_count + 1, 'replay',
    r.subject, r.sequence
  from revived r
  returning id
),
made_due as (
  update posthorn.queue q
  set next_at = posthorn.now(),
    schedule_started_at = posthorn.now(),
    failures = 0,
    replay_count = q.replay_count + 1,
    trigger = 'replay'
  where q.id = any ($2::uuid[])
    and q.claimed_by is null
    and (q.failures > 0 or posthorn.is_deferred(q.attempts, q.next_at))
  returning q.id
)
select ((select count(*) from requeued) + (select count(*) from made_due))::integer as count
`,
);

export interface MissingDelivery {
  readonly id: Uuid;
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  /** Null: not delivered in order. */
  readonly subject: string | null;
  readonly sequence: number | null;
}

/** Returns how many were missing. */
export async function enqueueMissing(tx: Queryable, missing: readonly MissingDelivery[]): Promise<number> {
  const [row] = await tx.query<{ count: number }>(enqueueMissingStatement, [
    uuidArray(missing.map(({ id }) => id)),
    uuidArray(missing.map(({ eventId }) => eventId)),
    uuidArray(missing.map(({ endpointId }) => endpointId)),
    textArray(missing.map(({ subject }) => subject)),
    int8Array(missing.map(({ sequence }) => sequence)),
  ]);
  return row?.count ?? 0;
}

// A deleted dead letter may have attempts; numbering continues from there.
const enqueueMissingStatement = statement(
  "enqueue missing",
  `
with queued as (
  insert into posthorn.queue (
    id, event_id, endpoint_id, next_at, schedule_started_at, attempts, replay_count, trigger, subject, sequence
  )
  select m.id, m.event_id, m.endpoint_id, posthorn.now(), posthorn.now(),
    coalesce((select max(a.number) from posthorn.attempts a where a.delivery_id = m.id), 0),
    1, 'replay', m.subject, m.sequence
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[])
    as m (id, event_id, endpoint_id, subject, sequence)
  where (m.id in (select d.id from posthorn.delivery_states d where d.id = any ($1::uuid[]))) is not true
  returning id
)
select count(*)::integer as count
from queued
`,
);
