// Reads which endpoints have a batch due, and when the next one is.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** Used where an endpoint has no setting of its own. */
export interface BatchDefaults {
  readonly format: string;
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly maxDelayMs: number;
}

export interface PendingBatch {
  readonly endpointId: Uuid;
  /** Number of events for the next batch, up to its maximum. */
  readonly events: number;
  readonly bytes: number;
  /** Zero or less: due now. */
  readonly dueInMs: number;
}

/** Reads the pending batch of one endpoint, or of all. */
export async function pendingBatches(
  db: Queryable,
  { format, maxEvents, maxBytes, maxDelayMs }: BatchDefaults,
  endpointId: Uuid | null,
): Promise<PendingBatch[]> {
  return await db.query<PendingBatch>(pendingBatchesStatement, [
    format,
    maxEvents,
    maxBytes,
    maxDelayMs,
    endpointId,
  ]);
}

// One index lookup per endpoint with pending events, and one per event of its next batch. Events of an endpoint that
// was deleted or no longer takes batches are due at once.
const pendingBatchesStatement = statement(
  "pending batches",
  `
with recursive endpoint as (
  (
    select c.endpoint_id
    from posthorn.pending_batch_events c
    where $5::uuid is null
      or c.endpoint_id = $5::uuid
    order by c.endpoint_id
    limit 1
  )
  union all
  select (
    select c.endpoint_id
    from posthorn.pending_batch_events c
    where c.endpoint_id > endpoint.endpoint_id
    order by c.endpoint_id
    limit 1
  )
  from endpoint
  where endpoint.endpoint_id is not null
    and $5::uuid is null
),
setting as (
  select endpoint.endpoint_id,
    ep.deleted_at is null and coalesce(ep.format, $1::text) = 'cloudevents-batch' as takes_batches,
    coalesce((ep.batch ->> 'maxEvents')::integer, $2::integer) as max_events,
    coalesce((ep.batch ->> 'maxBytes')::integer, $3::integer) as max_bytes,
    coalesce((ep.batch ->> 'maxDelayMs')::integer, $4::integer) as max_delay_ms
  from endpoint
  left join posthorn.endpoints ep on ep.id = endpoint.endpoint_id
  where endpoint.endpoint_id is not null
)
select s.endpoint_id as "endpointId", next.events, next.bytes,
  case
    when not s.takes_batches or next.events >= s.max_events or next.bytes >= s.max_bytes then 0
    else posthorn.epoch_ms(next.since) + s.max_delay_ms - posthorn.epoch_ms(posthorn.now())
  end as "dueInMs"
from setting s
cross join lateral (
  select count(*)::integer as events, (sum(c.bytes + 1) + 1)::bigint as bytes, min(c.added_at) as since
  from (
    select c.bytes, c.added_at
    from posthorn.pending_batch_events c
    where c.endpoint_id = s.endpoint_id
    order by c.position
    limit s.max_events
  ) c
) next
`,
);
