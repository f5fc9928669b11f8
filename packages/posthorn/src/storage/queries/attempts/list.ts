// The attempts of one delivery in order, or the newest of an endpoint.
import type { AttemptTrigger, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface AttemptRow {
  readonly number: number;
  readonly startedMs: number | null;
  readonly durationMs: number | null;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseBody: Buffer | null;
  readonly nextRetryMs: number | null;
  readonly trigger: AttemptTrigger;
  readonly worker: number;
}

export async function attemptsOf(db: Queryable, deliveryId: Uuid): Promise<AttemptRow[]> {
  return await db.query<AttemptRow>(attemptsStatement, [deliveryId]);
}

/** For `posthorn.attempts a`. */
const attemptColumns = `a.number, posthorn.epoch_ms(a.started_at) as "startedMs", a.duration_ms as "durationMs",
  a.status_code as "statusCode", a.error, a.response_body as "responseBody",
  posthorn.epoch_ms(a.next_retry_at) as "nextRetryMs", a.trigger, a.worker`;

const attemptsStatement = statement(
  "attempts of delivery",
  `
select ${attemptColumns}
from posthorn.attempts a
where a.delivery_id = $1::uuid
order by a.number
`,
);

export interface EndpointAttemptRow extends AttemptRow {
  readonly deliveryId: Uuid;
  readonly eventId: Uuid;
  readonly eventType: string;
}

/** The place of an attempt in the list of its endpoint; those listed come after it. */
export interface AttemptPlace {
  readonly deliveryId: Uuid;
  readonly number: number;
}

/** Newest deliveries first, and of each the newest attempt. */
export async function attemptsOfEndpoint(
  db: Queryable,
  endpointId: Uuid,
  after: AttemptPlace,
  limit: number,
): Promise<EndpointAttemptRow[]> {
  const values = [endpointId, after.deliveryId, after.number, limit];
  return await db.query<EndpointAttemptRow>(ofEndpointStatement, values);
}

// Every delivery taken here has an attempt, so as many deliveries as attempts are asked for are enough, and one more
// for that of `after`. History is read by a range of the pair, in the pair's order, which only the endpoint's own index
// serves.
const ofEndpointStatement = statement(
  "attempts of endpoint",
  `
with newest as materialized (
  (
    select d.id, d.event_id
    from posthorn.deliveries d
    where (d.endpoint_id, d.id) >= ($1::uuid, '00000000-0000-0000-0000-000000000000'::uuid)
      and (d.endpoint_id, d.id) <= ($1::uuid, $2::uuid)
      and d.attempts > 0
    order by d.endpoint_id desc, d.id desc
    limit $4::integer + 1
  )
  union all
  (
    select q.id, q.event_id
    from posthorn.queue q
    where q.endpoint_id = $1::uuid
      and q.id <= $2::uuid
      and q.attempts > 0
    order by q.id desc
    limit $4::integer + 1
  )
),
taken as materialized (
  select newest.id, newest.event_id
  from newest
  order by newest.id desc
  limit $4::integer + 1
)
select taken.id as "deliveryId", taken.event_id as "eventId", e.type as "eventType", ${attemptColumns}
from taken
join posthorn.events e on e.id = taken.event_id
-- the limit keeps it a look-up for each delivery: as a join it might read all attempts
cross join lateral (
  select attempt.*
  from posthorn.attempts attempt
  where attempt.delivery_id = taken.id
    and (attempt.delivery_id < $2::uuid or attempt.number < $3::integer)
  order by attempt.number desc
  limit $4::integer
) a
order by taken.id desc, a.number desc
limit $4::integer
`,
);
