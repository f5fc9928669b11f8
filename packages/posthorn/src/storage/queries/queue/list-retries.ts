// Lists the retry queue: failed deliveries by the time that their retry is scheduled for. Uses one index for all endpoints and another
// for some; both hold only retries.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { rows } from "../../query.ts";
import { type DeliveryRow, deliveryColumns } from "../deliveries/read.ts";

export interface RetryKey {
  /** In microseconds, to distinguish deliveries of the same millisecond. */
  readonly nextAtMicros: string;
  readonly id: Uuid;
}

export interface RetryQuery {
  readonly after: RetryKey | null;
  /** Null: all endpoints. */
  readonly endpointIds: readonly Uuid[] | null;
  readonly limit: number;
}

export async function listRetries(
  db: Queryable,
  { after, endpointIds, limit }: RetryQuery,
): Promise<Retry[]> {
  const { nextAtMicros, id } = after ?? { nextAtMicros: "0", id: "00000000-0000-0000-0000-000000000000" };
  if (endpointIds === null) return await retries(db, nextAtMicros, id, limit);
  return await retriesOfEndpoints(db, nextAtMicros, id, limit, endpointIds);
}

type Retry = DeliveryRow & RetryKey;
type PageAfter = [nextAtMicros: string, id: Uuid, limit: number];

/** Never reached. Keeps the planner's row estimate below the threshold for JIT. */
const MORE_THAN_A_PAGE = 300;

const after = "timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2::uuid";

const isFailed = `q.claimed_by is null
      and q.trigger = 'retry'
      and (q.failures > 0 or posthorn.is_deferred(q.attempts, q.next_at))`;

const pageText = (next: string) => `
select (extract(epoch from d.next_at) * 1000000)::bigint::text as "nextAtMicros", ${deliveryColumns}
from (
  select page.*
  from (
    select found.id, found.event_id, found.endpoint_id, 'failed' as state, found.attempts, found.next_at,
      null::text as dead_reason, found.replay_count, null::timestamptz as finished_at
    from (${next}) found
    order by found.next_at, found.id
    limit (select $3::integer)
  ) page
  limit ${MORE_THAN_A_PAGE}
) d
-- the limit forces a lookup per row; a join looks so expensive that the generic plan is never used
cross join lateral (
  select event.tenant, event.type, event.subject, event.sequence, event.edited_from
  from posthorn.events event
  where event.id = d.event_id
  limit 1
) e
order by d.next_at, d.id
`;

// A delivery that waits for another of its subject has no time, and comes last in the index. "(select …)" hides the
// limit and the number of endpoints: if the planner expects few rows, it sorts all rows of an endpoint (13 ms at
// 15,000), and a generic plan that looks more expensive would cause planning for each page (2 ms).
const retries = rows<Retry, PageAfter>("retry queue")`${pageText(`
    select q.*
    from posthorn.queue q
    where ${isFailed}
      and (q.next_at, q.id) > (${after})
      and q.next_at < 'infinity'
    order by q.next_at, q.id
    limit (select $3::integer)
  `)}`;

// A range of the three columns instead of "endpoint_id =": see sources.ts.
const retriesOfEndpoints = rows<Retry, [...PageAfter, endpointIds: readonly Uuid[]]>(
  "retry queue of endpoints",
)`${pageText(`
    select first.*
    from unnest((select $4::uuid[])) as asked (endpoint_id)
    cross join lateral (
      select own.*
      from (
        select q.*
        from posthorn.queue q
        where ${isFailed}
          and (q.endpoint_id, q.next_at, q.id) > (asked.endpoint_id, ${after})
          and (q.endpoint_id, q.next_at) < (asked.endpoint_id, timestamptz 'infinity')
        order by q.endpoint_id, q.next_at, q.id
        limit (select $3::integer)
      ) own
      limit ${MORE_THAN_A_PAGE}
    ) first
  `)}`;
