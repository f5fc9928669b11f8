// Records which lanes wait for their endpoint's own limits. A lane that another transaction is writing to is left for
// the next survey.
import type { Uuid } from "../../../model.ts";
import { textArray, uuidArray } from "../../binary-array.ts";
import { arrays, run } from "../../query.ts";

/** The endpoint's own limit that due deliveries wait for: attempts in flight or per second. */
export type LaneLimit = "cap" | "rate_limit";

export interface LimitedLane {
  readonly endpointId: Uuid;
  /** Null: no longer limited. */
  readonly limitedBy: LaneLimit | null;
  /** The deliveries that are being sent, separated by commas. Null: no longer limited. */
  readonly sending: string | null;
}

export const markLimitedLanes = run<[workerId: number, lanes: readonly LimitedLane[]]>(
  "mark limited lanes",
  (workerId, lanes) => [
    workerId,
    ...arrays(lanes, { endpointId: uuidArray, limitedBy: textArray, sending: textArray }),
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
set limited_by = given.limited_by,
  sending = string_to_array(given.sending, ',')::uuid[],
  limited_until = case when given.limited_by is null then posthorn.now() else 'infinity' end
from unnest($2::uuid[], $3::text[], $4::text[]) as given (endpoint_id, limited_by, sending)
where l.endpoint_id = given.endpoint_id
  and l.endpoint_id = any (array(select endpoint_id from locked))
`;
