// Claims due deliveries of lanes this worker owns: many lanes, few rows each, whatever the backlog.
import type { ClaimedDelivery, Uuid } from "../../../model.ts";
import { int4Array, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type ClaimedRow, claimedColumns, toClaimed } from "./claimed-row.ts";

export interface LaneTurn {
  readonly endpointId: Uuid;
  readonly room: number;
}

export interface Fetched {
  readonly delivery: ClaimedDelivery;
  /** The endpoint's settings as they are now; a lane with older ones reads them again. */
  readonly targetVersion: number;
}

export async function fetch(db: Queryable, workerId: number, turns: readonly LaneTurn[]): Promise<Fetched[]> {
  const rows = await db.query<ClaimedRow & { version: number }>(fetchStatement, [
    workerId,
    uuidArray(turns.map((turn) => turn.endpointId)),
    int4Array(turns.map((turn) => turn.room)),
  ]);
  return rows.map((row) => ({ delivery: toClaimed(row), targetVersion: row.version }));
}

// "= any (array(…))" and not a join: a generic plan guesses thousands of rows from the limit and would scan the
// backlog (10 ms at 20,000 owed rows, growing with it).
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
  select owed.id
  from turn
  cross join lateral (
    select q.id
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
  where q.id = any (array(select id from due))
    and q.claimed_by is null
  returning q.*
)
select ${claimedColumns("claimed")}, ep.version
from claimed
join posthorn.events e on e.id = claimed.event_id
join posthorn.endpoints ep on ep.id = claimed.endpoint_id
order by claimed.next_at, claimed.id
`,
);
