// Releases claimed deliveries that were not started: the endpoint was paused, or this worker stops.
import type { Uuid } from "../../../model.ts";
import { run } from "../../query.ts";

export const releaseDeliveries = run<[workerId: number, ids: readonly Uuid[]]>("release deliveries")`
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
`;

/** The caller has locked the endpoint's row and notifies the lane's owner, which promotes the next deliveries. */
export const releaseHeldSubjects = run<[endpointId: Uuid]>(
  "release subjects",
)`delete from posthorn.held_subjects where endpoint_id = $1::uuid`;
