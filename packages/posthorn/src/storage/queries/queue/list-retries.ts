// The retry queue: failed deliveries in the order of their next attempts. Of all endpoints along one index, of some
// along another; both hold only what is tried again.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type DeliveryRow, deliveryColumns } from "../deliveries/delivery-row.ts";

export interface RetryKey {
  /** To the microsecond: two that are due in the same millisecond are told apart. */
  readonly nextAtMicros: string;
  readonly id: Uuid;
}

export interface RetryQuery {
  readonly after: RetryKey | null;
  /** Null: of all endpoints. */
  readonly endpointIds: readonly Uuid[] | null;
  readonly limit: number;
}

export async function listRetries(
  db: Queryable,
  { after, endpointIds, limit }: RetryQuery,
): Promise<(DeliveryRow & RetryKey)[]> {
  const { nextAtMicros, id } = after ?? beforeAll;
  const values = [nextAtMicros, id, limit];
  return endpointIds === null
    ? await db.query(ofAllStatement, values)
    : await db.query(ofEndpointsStatement, [...values, uuidArray(endpointIds)]);
}

const beforeAll: RetryKey = { nextAtMicros: "0", id: "00000000-0000-0000-0000-000000000000" };

const after = "(timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2::uuid)";

/** One that waits for its turn in a subject has no time. */
const isFailed = `q.claimed_by is null
      and q.trigger = 'retry'
      and q.next_at < 'infinity'
      and (q.failures > 0 or posthorn.is_put_off(q.attempts, q.next_at))`;

const pageText = (next: string) => `
select (extract(epoch from d.next_retry_at) * 1000000)::bigint::text as "nextAtMicros", ${deliveryColumns}
from (
  select found.id, found.event_id, found.endpoint_id, 'failed' as state, found.attempts, found.next_at as next_retry_at,
    null::text as dead_reason, found.replay_count, null::timestamptz as finished_at
  from (${next}) found
  order by found.next_at, found.id
  limit $3::integer
) d
join posthorn.events e on e.id = d.event_id
order by d.next_retry_at, d.id
`;

const ofAllStatement = statement(
  "retry queue",
  pageText(`
    select q.*
    from posthorn.queue q
    where ${isFailed}
      and (q.next_at, q.id) > ${after}
    order by q.next_at, q.id
    limit $3::integer
  `),
);

const ofEndpointsStatement = statement(
  "retry queue of endpoints",
  pageText(`
    select first.*
    from unnest($4::uuid[]) as asked (endpoint_id)
    cross join lateral (
      select q.*
      from posthorn.queue q
      where q.endpoint_id = asked.endpoint_id
        and ${isFailed}
        and (q.next_at, q.id) > ${after}
      order by q.endpoint_id, q.next_at, q.id
      limit $3::integer
    ) first
  `),
);
