// Pauses or resumes lanes after a change to their endpoints or tenants. Locks are taken in the order tenant, endpoint,
// lane.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { isGranted } from "../handshakes/handshake-column.ts";
import { hasParked, nextReadyAt } from "../lanes/ready-at.ts";

/** Returns the owners, which must be notified. */
export async function syncLanes(
  tx: Queryable,
  endpointIds: readonly Uuid[],
): Promise<Map<Uuid, number | null>> {
  const ids = uuidArray(endpointIds);
  await tx.query(lockStatement, [ids]);
  // a second statement sees rows that were queued while the first one waited for its locks
  const rows = await tx.query<{ endpoint_id: Uuid; owner: number | null }>(syncStatement, [ids]);
  return new Map(rows.map((row) => [row.endpoint_id, row.owner]));
}

const lockStatement = statement(
  "lock lanes to sync",
  `
select l.endpoint_id
from posthorn.lanes l
where l.endpoint_id = any ($1::uuid[])
order by l.endpoint_id
for no key update
`,
);

// A lane's owner knows when its rows are due; a lane without one is ready when its first row is. The change may have
// released held subjects: an owner that releases the lane before it is notified leaves it ready.
const syncStatement = statement(
  "sync lanes",
  `
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
`,
);
