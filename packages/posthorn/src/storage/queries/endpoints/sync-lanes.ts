// Pauses or resumes lanes after a change to their endpoints or tenants. Locks are taken in the order tenant, endpoint,
// lane.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { mapOf, run } from "../../query.ts";
import { isGranted } from "../handshakes.ts";
import { hasParked, nextReadyAt } from "../lanes/ready-at.ts";

/** Returns the owners, which must be notified. */
export async function syncLanes(
  tx: Queryable,
  endpointIds: readonly Uuid[],
): Promise<Map<Uuid, number | null>> {
  await lock(tx, endpointIds);
  // a second statement sees rows that were queued while the first one waited for its locks
  return await sync(tx, endpointIds);
}

const lock = run<[endpointIds: readonly Uuid[]]>("lock lanes to sync")`
select l.endpoint_id
from posthorn.lanes l
where l.endpoint_id = any ($1::uuid[])
order by l.endpoint_id
for no key update
`;

// A lane's owner knows when its rows are due. A lane without an owner is ready when its first row is due. The change may
// have released held subjects, so `ready_at` is also set on an owned lane with parked rows: if its owner releases it
// before it is notified, the lane is still ready.
const sync = mapOf<Uuid, number | null, [endpointIds: readonly Uuid[]]>("sync lanes")`
update posthorn.lanes l
set paused = not (ep.is_active and t.is_active and ep.deleted_at is null and ${isGranted}),
  ready_at = case
    when l.owner is null then ${nextReadyAt("l")}
    when ${hasParked("l")} then posthorn.now()
  end
from posthorn.endpoints ep
join posthorn.tenants t on t.id = ep.tenant
where l.endpoint_id = any ($1::uuid[])
  and ep.id = l.endpoint_id
returning l.endpoint_id, l.owner
`;
