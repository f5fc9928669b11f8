// Locks lanes before deliveries are added to them: releasing a lane reads the rows committed before. The lock also makes
// `paused` final, because disabling or deleting the endpoint sets it under the same lock.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { column, rows } from "../../query.ts";
import { isOrdered } from "../endpoints/ordering.ts";
import { isGranted } from "../handshakes.ts";

/** Why a lane is paused. */
export type PausedReason =
  | "endpoint_deleted"
  | "endpoint_disabled"
  | "endpoint_not_agreed"
  | "tenant_inactive";

export interface LockedLane {
  readonly endpointId: Uuid;
  readonly owner: number | null;
  /** Null if the lane is not paused. */
  readonly pausedReason: PausedReason | null;
  /** The endpoint receives the events of a subject in order. */
  readonly isOrdered: boolean;
}

/** Locks lanes in the order of ids, the order of every transaction. Lanes of deleted endpoints may be missing. */
export async function lockLanes(
  tx: Queryable,
  endpointIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, LockedLane>> {
  const lanes = await readLocked(tx, await lock(tx, endpointIds));
  return new Map(lanes.map((lane) => [lane.endpointId, lane]));
}

export async function lockLane(tx: Queryable, endpointId: Uuid): Promise<LockedLane | undefined> {
  return (await lockLanes(tx, [endpointId])).get(endpointId);
}

const lock = column<Uuid, [endpointIds: readonly Uuid[]]>("lock lanes")`
with locked as materialized (
  select l.endpoint_id, l.owner, l.paused
  from posthorn.lanes l
  where l.endpoint_id = any ($1::uuid[])
  order by l.endpoint_id
  for no key update
),
made_ready as (
  update posthorn.lanes l
  set ready_at = least(l.ready_at, posthorn.now())
  where l.endpoint_id = any (array(select locked.endpoint_id from locked where not locked.paused and locked.owner is null))
)
select locked.endpoint_id as "endpointId"
from locked
`;

// A separate statement: the one that waited for the lock still sees the endpoint as it was before the change it waited
// for.
const readLocked = rows<LockedLane, [endpointIds: readonly Uuid[]]>("read locked lanes")`
select l.endpoint_id as "endpointId", l.owner,
  case
    when not l.paused then null
    when ep.deleted_at is not null then 'endpoint_deleted'
    when not ep.is_active then 'endpoint_disabled'
    when not (${isGranted}) then 'endpoint_not_agreed'
    else 'tenant_inactive'
  end as "pausedReason",
  ${isOrdered} as "isOrdered"
from posthorn.lanes l
join posthorn.endpoints ep on ep.id = l.endpoint_id
cross join posthorn.endpoint_defaults defaults
where l.endpoint_id = any ($1::uuid[])
`;
