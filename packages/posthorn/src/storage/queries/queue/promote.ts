// Makes the next delivery of a subject due: the lowest queued sequence, if it was parked. Only the lane's owner parks
// and promotes, in one loop, so a row is never parked because of what a promotion has just changed.
import type { Uuid } from "../../../model.ts";
import { textArray, uuidArray } from "../../binary-array.ts";
import { arrays, column, rows } from "../../query.ts";
import { isFirstInSubject } from "./is-first-in-subject.ts";

// Commits asynchronously: a promotion lost in a crash of the database is found by the next full check.
const gate = `
gate as materialized (
  select w.id
  from (select set_config('synchronous_commit', 'off', true)) hasty, posthorn.workers w
  where w.id = $1::integer
  for key share of w
)`;

const promote = `
promoted as (
  update posthorn.queue q
  set next_at = posthorn.now()
  where q.id = any (array(select id from head))
    and q.claimed_by is null
    and q.next_at = 'infinity'
  returning q.endpoint_id
)`;

/** A held delivery stays parked; a fetch would only park it again. */
const isNext = `lowest.claimed_by is null
    and lowest.next_at = 'infinity'
    and ${isFirstInSubject("lowest")}`;

export interface FreedSubject {
  readonly endpointId: Uuid;
  readonly subject: string;
}

/** Returns the lanes in which a delivery became due. */
export const promoteSubjects = column<Uuid, [workerId: number, freed: readonly FreedSubject[]]>(
  "promote subjects",
  (workerId, freed) => [workerId, ...arrays(freed, { endpointId: uuidArray, subject: textArray })],
)`
with ${gate},
head as materialized (
  select lowest.id
  from gate
  cross join unnest($2::uuid[], $3::text[]) as freed (endpoint_id, subject)
  join posthorn.lanes l on l.endpoint_id = freed.endpoint_id and l.owner = gate.id
  cross join lateral (
    select q.id, q.endpoint_id, q.subject, q.sequence, q.claimed_by, q.next_at
    from posthorn.queue q
    where q.endpoint_id = freed.endpoint_id
      and q.subject = freed.subject
    order by q.sequence
    limit 1
  ) lowest
  where ${isNext}
),
${promote}
select distinct promoted.endpoint_id
from promoted
`;

export interface LaneScan {
  readonly endpointId: Uuid;
  /** Subjects up to this one were already checked. */
  readonly after: string;
}

export interface ScannedLane {
  readonly endpointId: Uuid;
  /** The last subject checked; null: there are no more. */
  readonly lastSubject: string | null;
  readonly promoted: number;
}

/**
 * Checks one row of each subject, for a limited number of subjects per lane. For lanes whose parked deliveries may have
 * no predecessor.
 */
// One index lookup per subject, so a subject's backlog costs nothing.
export const promoteLanes = rows<
  ScannedLane,
  [workerId: number, lanes: readonly LaneScan[], subjectsPerLane: number]
>("promote lanes", (workerId, lanes, subjectsPerLane) => [
  workerId,
  ...arrays(lanes, { endpointId: uuidArray, after: textArray }),
  subjectsPerLane,
])`
with ${gate},
scanned as materialized (
  select l.endpoint_id, step.subject, step.number
  from gate
  cross join unnest($2::uuid[], $3::text[]) as scan (endpoint_id, after)
  join posthorn.lanes l on l.endpoint_id = scan.endpoint_id and l.owner = gate.id
  cross join lateral (
    with recursive step as (
      select scan.after as subject, 0 as number
      union all
      select (
        select q.subject
        from posthorn.queue q
        where q.endpoint_id = scan.endpoint_id
          and q.subject > step.subject
        order by q.subject
        limit 1
      ), step.number + 1
      from step
      where step.subject is not null
        and step.number < $4::integer
    )
    select step.subject, step.number
    from step
    where step.number > 0
  ) step
),
head as materialized (
  select lowest.id
  from scanned
  cross join lateral (
    select q.id, q.endpoint_id, q.subject, q.sequence, q.claimed_by, q.next_at
    from posthorn.queue q
    where q.endpoint_id = scanned.endpoint_id
      and q.subject = scanned.subject
    order by q.sequence
    limit 1
  ) lowest
  where ${isNext}
),
${promote}
select
  w.endpoint_id as "endpointId",
  -- the scan ends with a null unless it was cut short
  case when count(*) = count(w.subject) then max(w.subject) end as "lastSubject",
  (select count(*)::integer from promoted where promoted.endpoint_id = w.endpoint_id) as promoted
from scanned w
group by w.endpoint_id
`;
