// Releases claimed deliveries that were not started: the endpoint was paused, or this worker stops.
import type { Uuid } from "../../../model.ts";
import { run } from "../../query.ts";

// Locks the lanes first, like every transaction that adds rows to them. Without the lock, the release of a lane that runs
// at the same time sees no unclaimed row, this statement sees an owner, and the lane would never be ready.
export const releaseDeliveries = run<[workerId: number, ids: readonly Uuid[]]>("release deliveries")`
with locked as materialized (
  select l.endpoint_id, l.owner
  from posthorn.lanes l
  where l.endpoint_id in (
      select q.endpoint_id
      from posthorn.queue q
      where q.id = any ($2::uuid[])
        and q.claimed_by = $1::integer
    )
  order by l.endpoint_id
  for no key update
),
returned as (
  update posthorn.queue q
  set claimed_by = null
  where q.id = any ($2::uuid[])
    and q.claimed_by = $1::integer
    and (select count(*) from locked) > 0
  returning q.endpoint_id, q.next_at
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
join locked on locked.endpoint_id = earliest.endpoint_id
where l.endpoint_id = earliest.endpoint_id
  and locked.owner is null
`;

/** The caller has locked the endpoint's row and notifies the lane's owner, which promotes the next deliveries. */
export const releaseHeldSubjects = run<[endpointId: Uuid]>(
  "release subjects",
)`delete from posthorn.held_subjects where endpoint_id = $1::uuid`;
