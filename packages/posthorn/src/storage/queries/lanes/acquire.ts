// Claims lanes that are ready and have no owner, oldest first.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { hasParked } from "./ready-at.ts";

export interface AcquiredLane {
  readonly endpointId: Uuid;
  /** Deliveries are parked, and the last owner may have died before promoting the next one. */
  readonly hasParked: boolean;
}

/** Claims lanes that have been ready for at least `waitedMs`. */
export async function acquireLanes(
  db: Queryable,
  workerId: number,
  limit: number,
  waitedMs = 0,
): Promise<AcquiredLane[]> {
  return await db.query<AcquiredLane>(acquireStatement, [workerId, limit, waitedMs]);
}

const acquireStatement = statement(
  "acquire lanes",
  `
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
`,
);
