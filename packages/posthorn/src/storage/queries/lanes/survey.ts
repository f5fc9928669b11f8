// Reads the state of this worker's lanes, once a second, because notifications may be lost.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface SurveyedLane {
  readonly endpointId: Uuid;
  /**
   * Milliseconds until its next delivery is due, zero or less if one is due now, null if there is none but parked ones.
   */
  readonly dueInMs: number | null;
  readonly targetVersion: number;
  /** It is recorded as waiting for its endpoint's own limits. */
  readonly isHeld: boolean;
  /** The recorded probe time if the circuit is not closed. */
  readonly probeAtMs: number | null;
}

/** Takes 4 ms at 4,800 lanes and a backlog of a million. */
export async function surveyLanes(db: Queryable, workerId: number): Promise<SurveyedLane[]> {
  return await db.query<SurveyedLane>(surveyStatement, [workerId]);
}

const surveyStatement = statement(
  "survey lanes",
  `
select
  l.endpoint_id as "endpointId",
  ep.version as "targetVersion",
  coalesce(l.limited_until = 'infinity', false) as "isHeld",
  posthorn.epoch_ms(h.probe_at) as "probeAtMs",
  (
    select posthorn.epoch_ms(q.next_at) - posthorn.epoch_ms(posthorn.now())
    from posthorn.queue q
    where q.endpoint_id = l.endpoint_id
      and q.claimed_by is null
      and q.next_at < 'infinity'
    order by q.next_at
    limit 1
  ) as "dueInMs"
from posthorn.lanes l
join posthorn.endpoints ep on ep.id = l.endpoint_id
left join posthorn.endpoint_health h on h.endpoint_id = l.endpoint_id
where l.owner = $1::integer
`,
);
