// Makes many deliveries owed in the transaction of a replay's step: what has ended or failed, again, and what there
// never was, for the first time. The same as a retry by hand (owe.ts), but for the trigger and the count.
import type { Uuid } from "../../../model.ts";
import { int8Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import type { ClosedLane } from "./owe.ts";

export interface LockedLane {
  readonly endpointId: Uuid;
  readonly owner: number | null;
  /** Null: it is open. */
  readonly closed: ClosedLane["because"] | null;
}

/** In the order of their ids, as everybody does. Lanes that are not there are of endpoints that are gone. */
export async function lockLanes(
  tx: Queryable,
  endpointIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, LockedLane>> {
  const rows = await tx.query<LockedLane>(lockStatement, [uuidArray(endpointIds)]);
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
select locked.endpoint_id as "endpointId", locked.owner,
  case
    when not locked.paused then null
    when ep.deleted_at is not null then 'endpoint_deleted'
    when not ep.is_active then 'endpoint_disabled'
    else 'tenant_inactive'
  end as closed
from locked
join posthorn.endpoints ep on ep.id = locked.endpoint_id
`,
);

/** Returns how many became owed; the others are in flight or ended anew since they were looked at. */
export async function oweManyAgain(
  tx: Queryable,
  { ended, failed, endedByMs }: { ended: readonly Uuid[]; failed: readonly Uuid[]; endedByMs: number },
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(oweAgainStatement, [
    uuidArray(ended),
    uuidArray(failed),
    endedByMs,
  ]);
  return row?.count ?? 0;
}

// Subject and sequence by two look-ups for each row instead of a join, for which the planner may read all events.
const oweAgainStatement = statement(
  "owe many again",
  `
with revived as (
  delete from posthorn.deliveries d
  where d.id = any ($1::uuid[])
    and d.finished_at <= to_timestamp($3::double precision / 1000)
  returning d.id, d.event_id, d.endpoint_id, d.attempts, d.replay_count
),
-- its number brings it before all that wait, if the endpoint wants order now
placed as materialized (
  select revived.*, (
      select (select e.sequence from posthorn.events e where e.id = revived.event_id limit 1)
      from posthorn.endpoints ep
      where ep.id = revived.endpoint_id
        and ep.ordering = 'fifo'
    ) as sequence
  from revived
),
let_go as (
  delete from posthorn.held_subjects h
  where h.delivery_id = any (array(select placed.id from placed where placed.sequence is not null))
    and h.endpoint_id = any (array(select placed.endpoint_id from placed where placed.sequence is not null))
),
requeued as (
  insert into posthorn.queue (
    id, event_id, endpoint_id, next_at, owed_since, attempts, replay_count, trigger, subject, sequence
  )
  select placed.id, placed.event_id, placed.endpoint_id, posthorn.now(), posthorn.now(), placed.attempts,
    placed.replay_count + 1, 'replay',
    case
      when placed.sequence is not null
      then (select e.subject from posthorn.events e where e.id = placed.event_id limit 1)
    end,
    placed.sequence
  from placed
  returning id
),
hastened as (
  update posthorn.queue q
  set next_at = posthorn.now(),
    owed_since = posthorn.now(),
    failures = 0,
    replay_count = q.replay_count + 1,
    trigger = 'replay'
  where q.id = any ($2::uuid[])
    and q.claimed_by is null
    and (q.failures > 0 or posthorn.is_put_off(q.attempts, q.next_at))
  returning q.id
)
select ((select count(*) from requeued) + (select count(*) from hastened))::integer as count
`,
);

export interface MissingDelivery {
  readonly id: Uuid;
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  /** Null unless it is delivered in order. */
  readonly subject: string | null;
  readonly sequence: number | null;
}

/** Returns how many there were not yet. */
export async function oweMissing(tx: Queryable, missing: readonly MissingDelivery[]): Promise<number> {
  const [row] = await tx.query<{ count: number }>(oweMissingStatement, [
    uuidArray(missing.map(({ id }) => id)),
    uuidArray(missing.map(({ eventId }) => eventId)),
    uuidArray(missing.map(({ endpointId }) => endpointId)),
    textArray(missing.map(({ subject }) => subject)),
    int8Array(missing.map(({ sequence }) => sequence)),
  ]);
  return row?.count ?? 0;
}

const oweMissingStatement = statement(
  "owe missing",
  `
with owed as (
  insert into posthorn.queue (
    id, event_id, endpoint_id, next_at, owed_since, replay_count, trigger, subject, sequence
  )
  select m.id, m.event_id, m.endpoint_id, posthorn.now(), posthorn.now(), 1, 'replay', m.subject, m.sequence
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[])
    as m (id, event_id, endpoint_id, subject, sequence)
  where (m.id in (select d.id from posthorn.delivery_states d where d.id = any ($1::uuid[]))) is not true
  returning id
)
select count(*)::integer as count
from owed
`,
);
