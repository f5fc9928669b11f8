// Releases claimed deliveries that were not started: the endpoint was paused, or this worker stops.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function releaseDeliveries(
  db: Queryable,
  workerId: number,
  ids: readonly Uuid[],
): Promise<void> {
  await db.query(releaseStatement, [workerId, uuidArray(ids)]);
}

const releaseStatement = statement(
  "release deliveries",
  `
with returned as (
  update posthorn.queue
  set claimed_by = null
  where id = any ($2::uuid[])
    and claimed_by = $1::integer
  returning endpoint_id, next_at
),
earliest as (
  select endpoint_id, min(next_at) as next_at
  from returned
  group by endpoint_id
)
-- a lane without an owner has to become ready
update posthorn.lanes l
set ready_at = least(l.ready_at, earliest.next_at)
from earliest
where l.endpoint_id = earliest.endpoint_id
  and l.owner is null
`,
);
