// Claims lanes that are ready and have no owner, oldest first.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { hasParked } from "./ready-at.ts";

export interface ClaimedLane {
  readonly endpointId: Uuid;
  /** Deliveries are parked, and the last owner may have died before promoting the next one. */
  readonly hasParked: boolean;
}

/** Claims lanes that have been ready for at least `waitedMs`, except those that this worker has just yielded. */
export async function claimLanes(
  db: Queryable,
  workerId: number,
  limit: number,
  { waitedMs = 0, except = [] as readonly Uuid[] } = {},
): Promise<ClaimedLane[]> {
  return await db.query<ClaimedLane>(claimStatement, [workerId, limit, waitedMs, uuidArray(except)]);
}

const claimStatement = statement("claim lanes")`
with gate as materialized (
  select w.id
  from posthorn.workers w
  where w.id = $1::integer
  for key share
),
ready as materialized (
  select l.endpoint_id
  from posthorn.lanes l
  where l.owner is null
    and not l.paused
    and l.ready_at <= posthorn.now() - $3::double precision * interval '1 millisecond'
    and l.endpoint_id <> all ($4::uuid[])
  order by l.ready_at
  limit $2::integer
  for no key update skip locked
)
update posthorn.lanes l
set owner = gate.id,
  ready_at = null
from ready, gate
where l.endpoint_id = ready.endpoint_id
returning l.endpoint_id as "endpointId", ${hasParked("l")} as "hasParked"
`;
