// Claims due deliveries of lanes this worker owns: many lanes, few rows each, whatever the backlog. A delivery behind
// another of its subject is parked until that one ends (promote.ts).
import type { AttemptTrigger, ClaimedDelivery, Event, Uuid } from "../../../model.ts";
import { int4Array, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { arrays } from "../../query.ts";
import { statement } from "../../sql.ts";
import { type EventRow, eventColumns, toEvent } from "../events/event-row.ts";
import { isFirstInSubject } from "./is-first-in-subject.ts";

interface ClaimedRow extends EventRow {
  id: Uuid;
  endpoint_id: Uuid;
  attempts: number;
  failures: number;
  trigger: AttemptTrigger;
  schedule_started_ms: number;
  is_ordered: boolean;
}

/** Columns of the given queue row and `posthorn.events e`. */
function claimedColumns(queue: string): string {
  return `${queue}.id, ${queue}.endpoint_id, ${queue}.attempts, ${queue}.failures, ${queue}.trigger,
  posthorn.epoch_ms(${queue}.schedule_started_at) as schedule_started_ms,
  ${queue}.subject is not null as is_ordered, ${eventColumns}`;
}

function toClaimed(row: ClaimedRow, event: Event = toEvent(row)): ClaimedDelivery {
  return {
    id: row.id,
    event,
    endpointId: row.endpoint_id,
    attempts: row.attempts,
    failures: row.failures,
    scheduleStartedMs: row.schedule_started_ms,
    trigger: row.trigger,
    isOrdered: row.is_ordered,
    claimBatch: null,
  };
}

export interface LaneTurn {
  readonly endpointId: Uuid;
  readonly maxRows: number;
}

export interface Fetched {
  readonly deliveries: readonly FetchedDelivery[];
  /** Number of parked rows by lane. */
  readonly parked: ReadonlyMap<Uuid, number>;
}

export interface FetchedDelivery {
  readonly delivery: ClaimedDelivery;
  /** Version of the endpoint's settings; a lane with an older one reloads them. */
  readonly targetVersion: number;
}

export async function fetch(db: Queryable, workerId: number, turns: readonly LaneTurn[]): Promise<Fetched> {
  const rows = await db.query<FetchedRow>(fetchStatement, [
    workerId,
    ...arrays(turns, { endpointId: uuidArray, maxRows: int4Array }),
  ]);
  const deliveries: FetchedDelivery[] = [];
  const parked = new Map<Uuid, number>();
  const events = new Map<Uuid, Event>();
  for (const row of rows) {
    if (row.is_parked) parked.set(row.endpoint_id, (parked.get(row.endpoint_id) ?? 0) + 1);
    else {
      // deliveries of an event share one object
      const event = events.get(row.event_id) ?? toEvent(row);
      events.set(event.id, event);
      deliveries.push({ delivery: toClaimed(row, event), targetVersion: row.version });
    }
  }
  return { deliveries, parked };
}

interface FetchedRow extends ClaimedRow {
  version: number;
  /** The event is not read then. */
  is_parked: boolean;
}

// "exists" is evaluated once per statement: if no row has to wait, which is always so without ordering, no row is
// looked up. Ordering then costs such a fetch 0.3 of about 17 µs per row.
const hasToWait = `exists (select from due where not is_first)
      and (q.id in (select id from due where not is_first)) is true`;

// "= any (array(…))" instead of a join: a generic plan guesses thousands of rows from the limit and would scan the
// backlog (10 ms at 20,000 queued rows, growing with it). Each row is parked at most once per turn, so the due part of
// the index holds the heads of subjects and new rows, never a subject's backlog.
const fetchStatement = statement("fetch")`
with gate as materialized (
  select w.id
  from posthorn.workers w
  where w.id = $1::integer
  for key share
),
turn as materialized (
  select t.endpoint_id, t.room
  from gate
  cross join unnest($2::uuid[], $3::integer[]) as t (endpoint_id, room)
  join posthorn.lanes l on l.endpoint_id = t.endpoint_id and l.owner = gate.id
),
due as materialized (
  select queued.id, case when queued.subject is null then true else ${isFirstInSubject("queued")} end as is_first
  from turn
  cross join lateral (
    select q.id, q.endpoint_id, q.subject, q.sequence
    from posthorn.queue q
    where q.endpoint_id = turn.endpoint_id
      and q.claimed_by is null
      and q.next_at <= posthorn.now()
    order by q.next_at, q.id
    limit turn.room
  ) queued
),
met as (
  update posthorn.queue q
  set claimed_by = case when ${hasToWait} then null else $1::integer end,
    next_at = case when ${hasToWait} then 'infinity' else q.next_at end
  where q.id = any (array(select id from due))
    and q.claimed_by is null
  returning q.*
)
select ${claimedColumns("met")}, ep.version, met.claimed_by is null as is_parked
from met
left join posthorn.events e on e.id = met.event_id and met.claimed_by is not null
join posthorn.endpoints ep on ep.id = met.endpoint_id
where met.claimed_by is null
  or e.id is not null
order by met.next_at, met.id
`;

/**
 * Finds deliveries that this worker has claimed in the database but not in memory: the reply to a claim was lost. Used
 * only after the database was unreachable.
 */
export async function recoverClaimed(
  db: Queryable,
  workerId: number,
  claimedIds: readonly Uuid[],
): Promise<ClaimedDelivery[]> {
  const rows = await db.query<ClaimedRow>(recoverStatement, [workerId, uuidArray(claimedIds)]);
  return rows.map((row) => toClaimed(row));
}

const recoverStatement = statement("recover claimed")`
select ${claimedColumns("q")}
from posthorn.queue q
join posthorn.events e on e.id = q.event_id
where q.claimed_by = $1::integer
  and (q.id in (select unnest($2::uuid[]))) is not true
order by q.next_at, q.id
`;
