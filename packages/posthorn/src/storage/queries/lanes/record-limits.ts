// Records the current limits on attempts in flight, for display. A lane that another transaction is writing to is left
// for the next time.
import type { Uuid } from "../../../model.ts";
import { int4Array, uuidArray } from "../../binary-array.ts";
import { run } from "../../query.ts";

export interface InFlightLimit {
  readonly endpointId: Uuid;
  /** Null: the endpoint's `max_in_flight`. */
  readonly limit: number | null;
}

export const recordInFlightLimits = run<[workerId: number, limits: readonly InFlightLimit[]]>(
  "record in-flight limits",
  (workerId, limits) => [
    workerId,
    uuidArray(limits.map(({ endpointId }) => endpointId)),
    int4Array(limits.map(({ limit }) => limit)),
  ],
)`
with locked as materialized (
  select l.endpoint_id
  from posthorn.lanes l
  where l.endpoint_id = any ($2::uuid[])
    and l.owner = $1::integer
  order by l.endpoint_id
  for no key update skip locked
)
update posthorn.lanes l
set in_flight_limit = given.in_flight_limit
from unnest($2::uuid[], $3::integer[]) as given (endpoint_id, in_flight_limit)
where l.endpoint_id = given.endpoint_id
  and l.endpoint_id = any (array(select endpoint_id from locked))
`;
