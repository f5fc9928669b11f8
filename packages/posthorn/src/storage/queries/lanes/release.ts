// Releases lanes. Queued deliveries make them ready at their time. A lane that another transaction is writing to is
// kept and released later.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Database } from "../../database.ts";
import { changes } from "../../query.ts";
import { statement } from "../../sql.ts";
import { firstDueAt, nextReadyAt } from "./ready-at.ts";

/** Returns the lanes that this worker no longer owns, including those that an earlier call with a lost reply released. */
export async function releaseLanes(
  db: Database,
  workerId: number,
  endpointIds: readonly Uuid[],
): Promise<Set<Uuid>> {
  return await db.transaction(async (tx) => {
    const locked = await tx.query<{ endpoint_id: Uuid }>(lockStatement, [workerId, uuidArray(endpointIds)]);
    const ids = locked.map((row) => row.endpoint_id);
    // a second statement sees what was committed while the first one waited for its locks
    if (ids.length > 0) await tx.query(releaseStatement, [workerId, uuidArray(ids)]);
    if (ids.length === endpointIds.length) return new Set(ids);
    const kept = await tx.query<{ endpoint_id: Uuid }>(ownedStatement, [workerId, uuidArray(endpointIds)]);
    const keptIds = new Set(kept.map((row) => row.endpoint_id));
    return new Set(endpointIds.filter((id) => !keptIds.has(id)));
  });
}

const lockStatement = statement("lock lanes to release")`
select l.endpoint_id
from posthorn.lanes l
where l.endpoint_id = any ($2::uuid[])
  and l.owner = $1::integer
order by l.endpoint_id
for no key update skip locked
`;

const releaseStatement = statement("release lanes")`
update posthorn.lanes l
set owner = null,
  in_flight_limit = null,
  ready_at = least(l.ready_at, ${firstDueAt("l")})
where l.endpoint_id = any ($2::uuid[])
  and l.owner = $1::integer
`;

const ownedStatement = statement("lanes still owned")`
select l.endpoint_id
from posthorn.lanes l
where l.endpoint_id = any ($2::uuid[])
  and l.owner = $1::integer
`;

/** Makes lanes ready that have due deliveries but neither an owner nor a time, which should not happen. Returns their number. */
export const repairLanes = changes("repair lanes")`
update posthorn.lanes l
set ready_at = ${nextReadyAt("l")}
where l.owner is null
  and l.ready_at is null
  and not l.paused
  and exists (
    select
    from posthorn.queue q
    where q.endpoint_id = l.endpoint_id
      and q.claimed_by is null
  )
`;
