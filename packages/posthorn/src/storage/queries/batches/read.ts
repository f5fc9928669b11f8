// Reads batches: the events of each, the batches of an event, and the batches that are due.
import type { Uuid } from "../../../model.ts";
import { column, rows } from "../../query.ts";

export interface BatchOfEvent {
  readonly endpointId: Uuid;
  /** Event id of the batch; null: not created yet. */
  readonly batchId: Uuid | null;
}

/** Returns them in the order of creation, pending ones last. */
export const batchesOfEvent = rows<BatchOfEvent, [eventId: Uuid]>("batches of event")`
select m.endpoint_id as "endpointId", m.batch_id as "batchId"
from posthorn.batch_events m
where m.event_id = $1::uuid
union all
select c.endpoint_id, null
from posthorn.pending_batch_events c
where c.event_id = $1::uuid
order by 2 nulls last, 1
`;

/** Returns event ids in batch order; empty if the event is not a batch. */
export const membersOfBatch = column<Uuid, [batchId: Uuid]>("members of batch")`
select m.event_id as id
from posthorn.batch_events m
where m.batch_id = $1::uuid
order by m.position
`;

/** Used where an endpoint does not set its own value. */
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
// One index lookup per endpoint with pending events, and one per event of its next batch. Events of an endpoint that
// was deleted or no longer takes batches are due at once.
export const pendingBatches = rows<PendingBatch, [BatchDefaults, endpointId: Uuid | null]>(
  "pending batches",
  ({ format, maxEvents, maxBytes, maxDelayMs }, endpointId) => [
    format,
    maxEvents,
    maxBytes,
    maxDelayMs,
    endpointId,
  ],
)`
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
`;
