// Reads lanes.
import type { Uuid } from "../../../model.ts";
import { column, mapOf, rows, value } from "../../query.ts";
import type { LaneLimit } from "./mark-limited.ts";
import { hasParked } from "./ready-at.ts";

export interface SurveyedLane {
  readonly endpointId: Uuid;
  /**
   * Milliseconds until its next delivery is due, zero or less if one is due now, null if there is none but parked ones.
   */
  readonly dueInMs: number | null;
  readonly targetVersion: number;
  /** The recorded limit that due deliveries wait for. */
  readonly limitedBy: LaneLimit | null;
  /** The recorded deliveries that are being sent while it is limited, separated by commas. */
  readonly sending: string | null;
  /** The recorded limit on attempts in flight; null: the endpoint's `max_in_flight`. */
  readonly inFlightLimit: number | null;
  /** The recorded probe time if the circuit is not closed. */
  readonly probeAtMs: number | null;
}

/** Takes 4 ms at 4,800 lanes and a backlog of a million. */
// "exists" is evaluated once per statement. In a queue whose deliveries are all claimed, no lane is looked up: with a plan
// made while the queue was empty, each look-up reads the whole table (25 ms for 200 lanes after a load).
export const surveyLanes = rows<SurveyedLane, [workerId: number]>("survey lanes")`
select
  l.endpoint_id as "endpointId",
  ep.version as "targetVersion",
  l.limited_by as "limitedBy",
  array_to_string(l.sending, ',') as sending,
  l.in_flight_limit as "inFlightLimit",
  posthorn.epoch_ms(h.probe_at) as "probeAtMs",
  case when exists (select from posthorn.queue q where q.claimed_by is null) then (
    select posthorn.epoch_ms(q.next_at) - posthorn.epoch_ms(posthorn.now())
    from posthorn.queue q
    where q.endpoint_id = l.endpoint_id
      and q.claimed_by is null
      and q.next_at < 'infinity'
    order by q.next_at
    limit 1
  ) end as "dueInMs"
from posthorn.lanes l
join posthorn.endpoints ep on ep.id = l.endpoint_id
left join posthorn.endpoint_health h on h.endpoint_id = l.endpoint_id
where l.owner = $1::integer
`;

export const lanesWithParked = column<Uuid, [workerId: number]>("lanes with parked")`
select l.endpoint_id
from posthorn.lanes l
where l.owner = $1::integer
  and ${hasParked("l")}
`;

/** Returns the recorded limits on attempts in flight that differ from the endpoint's `max_in_flight`. */
export const inFlightLimitsOf = mapOf<Uuid, number, [endpointIds: readonly Uuid[]]>(
  "in-flight limits of endpoints",
)`
select l.endpoint_id, l.in_flight_limit
from posthorn.lanes l
where l.endpoint_id = any ($1::uuid[])
  and l.owner is not null
  and l.in_flight_limit is not null
`;

export const ownerOfLane = value<number | null, [endpointId: Uuid]>("owner of lane")`
select l.owner
from posthorn.lanes l
where l.endpoint_id = $1::uuid
`;
