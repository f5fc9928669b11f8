// Lists attempts: of a delivery, of an endpoint, and those that were sent again.
import type { AttemptPhases, AttemptTrigger, Uuid } from "../../model.ts";
import { int4Array, uuidArray } from "../binary-array.ts";
import type { Queryable } from "../database.ts";
import { firstRow, rows } from "../query.ts";
import { statement } from "../sql.ts";
import type { DeliveryRow } from "./deliveries/read.ts";
import { walkDeliveries } from "./deliveries/walk.ts";

export interface AttemptRow extends AttemptPhases {
  readonly number: number;
  readonly startedMs: number | null;
  readonly durationMs: number | null;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseBody: Buffer | null;
  readonly nextRetryMs: number | null;
  readonly trigger: AttemptTrigger;
  readonly worker: number;
  /** When the previous attempt scheduled this one; null if unknown. */
  readonly announcedMs: number | null;
}

/** Columns of `posthorn.attempts a`. */
const attemptColumns = `a.number, posthorn.epoch_ms(a.started_at) as "startedMs", a.duration_ms as "durationMs",
  a.status_code as "statusCode", a.error, a.response_body as "responseBody",
  posthorn.epoch_ms(a.next_retry_at) as "nextRetryMs", a.trigger, a.worker, a.connect_ms as "connectMs",
  a.tls_ms as "tlsMs", a.first_byte_ms as "firstByteMs", (
    select posthorn.epoch_ms(before.next_retry_at)
    from posthorn.attempt_log before
    where before.delivery_id = a.delivery_id
      and before.number = a.number - 1
  ) as "announcedMs"`;

/**
 * Returns the newest attempt first, up to the delivery's number of attempts when it was read; later ones belong to its
 * next state.
 */
export const newestAttempts = rows<AttemptRow, [deliveryId: Uuid, upTo: number, limit: number]>(
  "attempts of delivery",
)`
select ${attemptColumns}
from posthorn.attempts a
where a.delivery_id = $1::uuid
  and a.number <= $2::integer
order by a.number desc
limit $3::integer
`;

/** Returns one attempt by number, or the newest. Null if it was not made or is no longer kept. */
export const findAttempt = firstRow<AttemptRow, [deliveryId: Uuid, number: number | null]>(
  "attempt of delivery",
)`
select ${attemptColumns}
from posthorn.attempts a
where a.delivery_id = $1::uuid
  and ($2::integer is null or a.number = $2::integer)
order by a.number desc
limit 1
`;

export interface LastAttempt {
  readonly deliveryId: Uuid;
  readonly statusCode: number | null;
  readonly error: string | null;
}

/** Returns the attempts with these numbers, except first attempts that succeeded. */
// the limit forces a lookup per delivery
export const attemptsNumbered = rows<
  LastAttempt,
  [deliveries: readonly Pick<DeliveryRow, "id" | "attempts">[]]
>("attempts by number", (deliveries) => [
  uuidArray(deliveries.map(({ id }) => id)),
  int4Array(deliveries.map(({ attempts }) => attempts)),
])`
select wanted.id as "deliveryId", a.status_code as "statusCode", a.error
from unnest($1::uuid[], $2::integer[]) as wanted (id, number)
cross join lateral (
  select l.status_code, l.error
  from posthorn.attempt_log l
  where l.delivery_id = wanted.id
    and l.number = wanted.number
  limit 1
) a
`;

export interface ListedAttemptRow
  extends AttemptRow,
    Pick<DeliveryRow, "eventId" | "endpointId" | "tenant" | "eventType"> {
  readonly deliveryId: Uuid;
}

/** A position in a list of attempts. */
export interface AttemptPlace {
  readonly deliveryId: Uuid;
  readonly number: number;
}

export interface ListedAttempts {
  readonly rows: readonly ListedAttemptRow[];
  /** Rows after this position were not examined. Null: all were, or the page is full. */
  readonly examinedUpTo: AttemptPlace | null;
}

/** The deliveries whose attempts are listed; null matches everything. */
export interface AttemptFilter {
  readonly endpointIds: readonly Uuid[] | null;
  readonly type: string | null;
  /** Exclusive bounds of the ids of deliveries. */
  readonly notBefore: Uuid;
  readonly before: Uuid;
}

/**
 * Lists the newest delivery first, and its newest attempt first. Walks the deliveries like a page of them, so that
 * neither a small endpoint scans the whole backlog nor a large one sorts its own.
 */
export async function listAttempts(
  db: Queryable,
  { endpointIds, type, notBefore, before }: AttemptFilter,
  after: AttemptPlace,
  limit: number,
): Promise<ListedAttempts> {
  // each has an attempt; one more, because all attempts of the delivery of `after` may precede it
  const wanted = limit + 1;
  const next = uuidAfter(after.deliveryId);
  const walked = await walkDeliveries(db, {
    after: notBefore,
    before: next < before ? next : before,
    direction: "newest_first",
    limit: wanted,
    endpointIds,
    type,
    onlyAttempted: true,
  });
  const deliveries = new Map(walked.rows.map((row) => [row.id, row]));
  const attempts = await db.query<AttemptRow & { deliveryId: Uuid }>(ofDeliveriesStatement, [
    uuidArray([...deliveries.keys()]),
    after.deliveryId,
    after.number,
    limit,
  ]);
  const rows = attempts.map((attempt) => {
    const { eventId, endpointId, tenant, eventType } = deliveries.get(attempt.deliveryId) as DeliveryRow;
    return { ...attempt, eventId, endpointId, tenant, eventType };
  });
  if (rows.length === limit) return { rows, examinedUpTo: null };
  const deliveryId = walked.rows.length === wanted ? walked.rows.at(-1)?.id : walked.examinedUpTo;
  // attempt numbers start at 1
  return { rows, examinedUpTo: deliveryId ? { deliveryId, number: 1 } : null };
}

/** The next higher UUID. */
function uuidAfter(uuid: Uuid): Uuid {
  const next = BigInt(`0x${uuid.replaceAll("-", "")}`) + 1n;
  const hex = next.toString(16).padStart(32, "0");
  return hex.length > 32 ? uuid : hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// the limit forces a lookup per delivery; a join might read all attempts
const ofDeliveriesStatement = statement("attempts of deliveries")`
select taken.id as "deliveryId", ${attemptColumns}
from unnest($1::uuid[]) as taken (id)
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
`;

export interface ResendFilter {
  readonly notBefore: Date;
  /** The last row of the previous page. */
  readonly before: { readonly startedUs: string; readonly deliveryId: Uuid } | null;
  readonly limit: number;
  readonly tenant: string | null;
  readonly type: string | null;
}

export interface ResendRow {
  readonly deliveryId: Uuid;
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly eventType: string;
  readonly attempt: number;
  readonly trigger: AttemptTrigger;
  readonly startedMs: number;
  /** Microseconds, as text. */
  readonly startedUs: string;
}

/** Lists manual attempts and replays, newest first. */
// The condition on the trigger must match that of the index attempts_resent. Planned for its values, so that absent
// conditions cost nothing.
export const listResent = rows<ResendRow, [ResendFilter]>(
  { name: "list resent", replansEachTime: true },
  ({ notBefore, before, limit, tenant, type }) => [
    notBefore,
    limit,
    before?.startedUs,
    before?.deliveryId,
    tenant,
    type,
  ],
)`
select
  a.delivery_id as "deliveryId",
  d.event_id as "eventId",
  d.endpoint_id as "endpointId",
  e.tenant,
  e.type as "eventType",
  a.number as attempt,
  a.trigger,
  posthorn.epoch_ms(a.started_at) as "startedMs",
  (extract(epoch from a.started_at) * 1000000)::bigint::text as "startedUs"
from posthorn.attempt_log a
-- an attempt that was made again has a queue row or history
join lateral (
  select q.event_id, q.endpoint_id from posthorn.queue q where q.id = a.delivery_id
  union all
  select h.event_id, h.endpoint_id from posthorn.deliveries h where h.id = a.delivery_id
) d on true
join posthorn.events e on e.id = d.event_id
where a.trigger in ('manual', 'replay')
  and a.started_at >= $1::timestamptz
  and (
    $3::bigint is null
    or (a.started_at, a.delivery_id) < (timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::uuid)
  )
  and ($5::text is null or e.tenant = $5::text)
  and ($6::text is null or e.type = $6::text)
order by a.started_at desc, a.delivery_id desc
limit $2::integer
`;
