// Claims due deliveries of lanes this worker owns: many lanes, few rows each, whatever the backlog. One whose turn in its
// subject has not come is parked: it is not met again until whoever is before it is done (promote.ts).
import type { ClaimedDelivery, Uuid } from "../../../model.ts";
import { int4Array, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type ClaimedRow, claimedColumns, toClaimed } from "./claimed-row.ts";
import { isFirst } from "./is-first.ts";

export interface LaneTurn {
  readonly endpointId: Uuid;
  readonly room: number;
}

export interface Fetched {
  readonly deliveries: readonly FetchedDelivery[];
  /** How many due rows of a lane were parked; a lane that is not named here had none. */
  readonly parked: ReadonlyMap<Uuid, number>;
}

export interface FetchedDelivery {
  readonly delivery: ClaimedDelivery;
  /** The endpoint's settings as they are now; a lane with older ones reads them again. */
  readonly targetVersion: number;
}

export async function fetch(db: Queryable, workerId: number, turns: readonly LaneTurn[]): Promise<Fetched> {
  const rows = await db.query<FetchedRow>(fetchStatement, [
    workerId,
    uuidArray(turns.map((turn) => turn.endpointId)),
    int4Array(turns.map((turn) => turn.room)),
  ]);
  return {
    deliveries: rows.flatMap((row) =>
      row.id === null ? [] : [{ delivery: toClaimed(row), targetVersion: row.version }],
    ),
    parked: new Map(Object.entries(rows[0]?.parked ?? {})),
  };
}

type FetchedRow = { parked: Record<Uuid, number> | null } & (
  | (ClaimedRow & { version: number })
  | { readonly id: null }
);

// "= any (array(…))" and not a join: a generic plan guesses thousands of rows from the limit and would scan the
// backlog (10 ms at 20,000 owed rows, growing with it). Each row is parked once at most for each of its turns, so the due
// part of the index holds the heads of subjects and newcomers, never a subject's backlog.
const fetchStatement = statement(
  "fetch",
  `
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
  select owed.id, case when owed.subject is null then true else ${isFirst("owed")} end as is_first
  from turn
  cross join lateral (
    select q.id, q.endpoint_id, q.subject, q.sequence
    from posthorn.queue q
    where q.endpoint_id = turn.endpoint_id
      and q.claimed_by is null
      and q.next_at <= posthorn.now()
    order by q.next_at, q.id
    limit turn.room
  ) owed
),
claimed as (
  update posthorn.queue q
  set claimed_by = $1::integer
  where q.id = any (array(select id from due where is_first))
    and q.claimed_by is null
  returning q.*
),
parked as (
  update posthorn.queue q
  set next_at = 'infinity'
  where q.id = any (array(select id from due where not is_first))
    and q.claimed_by is null
  returning q.endpoint_id
),
parked_by_lane as (
  select endpoint_id, count(*) as count
  from parked
  group by endpoint_id
)
select ready.*, case when row_number() over (order by ready.next_at, ready.id) = 1 then parked_lanes.counts end as parked
from (select json_object_agg(endpoint_id, count) as counts from parked_by_lane) parked_lanes
left join (
  select ${claimedColumns("claimed")}, claimed.next_at, ep.version
  from claimed
  join posthorn.events e on e.id = claimed.event_id
  join posthorn.endpoints ep on ep.id = claimed.endpoint_id
) ready on true
order by ready.next_at, ready.id
`,
);
