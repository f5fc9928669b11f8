// Lists attempts of a delivery or of an endpoint.
import type { AttemptTrigger, Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import type { DeliveryRow } from "../deliveries/delivery-row.ts";
import { walkDeliveries } from "../deliveries/walk.ts";

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
  /** When the previous attempt scheduled this one; null if unknown. */
  readonly announcedMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  readonly firstByteMs: number | null;
}

/** Returns attempts up to the delivery's number of attempts when it was read; later ones belong to its next state. */
export async function newestAttempts(
  db: Queryable,
  deliveryId: Uuid,
  { upTo, limit }: { readonly upTo: number; readonly limit: number },
): Promise<AttemptRow[]> {
  return (await db.query<AttemptRow>(attemptsStatement, [deliveryId, upTo, limit])).toReversed();
}

/** Columns of `posthorn.attempts a`. */
const attemptColumns = `a.number, posthorn.epoch_ms(a.started_at) as "startedMs", a.duration_ms as "durationMs",
  a.status_code as "statusCode", a.error, a.response_body as "responseBody",
  posthorn.epoch_ms(a.next_retry_at) as "nextRetryMs", a.trigger, a.worker, a.connect_ms as "connectMs",
  a.tls_ms as "tlsMs", a.first_byte_ms as "firstByteMs", (
    select posthorn.epoch_ms(before.next_retry_at)
    from posthorn.attempts before
    where before.delivery_id = a.delivery_id
      and before.number = a.number - 1
  ) as "announcedMs"`;

const attemptsStatement = statement(
  "attempts of delivery",
  `
select ${attemptColumns}
from posthorn.attempts a
where a.delivery_id = $1::uuid
  and a.number <= $2::integer
order by a.number desc
limit $3::integer
`,
);

/** Returns one attempt by number, or the newest. Null if it was not made or is no longer kept. */
export async function findAttempt(
  db: Queryable,
  deliveryId: Uuid,
  number: number | null,
): Promise<AttemptRow | null> {
  const [row] = await db.query<AttemptRow>(attemptStatement, [deliveryId, number]);
  return row ?? null;
}

const attemptStatement = statement(
  "attempt of delivery",
  `
select ${attemptColumns}
from posthorn.attempts a
where a.delivery_id = $1::uuid
  and ($2::integer is null or a.number = $2::integer)
order by a.number desc
limit 1
`,
);

export interface EndpointAttemptRow extends AttemptRow {
  readonly deliveryId: Uuid;
  readonly eventId: Uuid;
  readonly eventType: string;
}

/** A position in the list of an endpoint's attempts. */
export interface AttemptPlace {
  readonly deliveryId: Uuid;
  readonly number: number;
}

export interface ListedAttempts {
  readonly rows: readonly EndpointAttemptRow[];
  /** Rows after this position were not examined. Null: all were, or the page is full. */
  readonly examinedUpTo: AttemptPlace | null;
}

/**
 * Lists the newest delivery first, and its newest attempt first. Walks the deliveries like a page of them, so that
 * neither a small endpoint scans the whole backlog nor a large one sorts its own.
 */
export async function attemptsOfEndpoint(
  db: Queryable,
  endpointId: Uuid,
  after: AttemptPlace,
  limit: number,
): Promise<ListedAttempts> {
  // each has an attempt; one more, because all attempts of the delivery of `after` may precede it
  const wanted = limit + 1;
  const walked = await walkDeliveries(db, {
    after: "00000000-0000-0000-0000-000000000000",
    before: uuidAfter(after.deliveryId),
    direction: "newest_first",
    limit: wanted,
    endpointIds: [endpointId],
    states: null,
    type: null,
    deadReason: null,
    endedByMs: null,
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
    const { eventId, eventType } = deliveries.get(attempt.deliveryId) as DeliveryRow;
    return { ...attempt, eventId, eventType };
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
const ofDeliveriesStatement = statement(
  "attempts of deliveries",
  `
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
`,
);
