// Creates a batch in a transaction that holds the endpoint's lane. The statement that writes the batch removes its
// events from the pending ones.
import type { Event, Uuid } from "../../../model.ts";
import { int8Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { arrays, fields, run } from "../../query.ts";
import { statement } from "../../sql.ts";
import { type EventRow, eventColumns, toEvent } from "../events/event-row.ts";

export interface Member {
  readonly position: number;
  readonly event: Event;
}

/** Returns pending events in order: enough for a batch of these limits, and few more. */
export async function pendingEvents(
  tx: Queryable,
  endpointId: Uuid,
  limit: { readonly events: number; readonly bytes: number },
): Promise<Member[]> {
  const rows = await tx.query<EventRow & { position: number }>(waitingStatement, [
    endpointId,
    limit.events,
    2 * limit.bytes,
  ]);
  return rows.map((row) => ({ position: row.position, event: toEvent(row) }));
}

// Retention keeps the events of pending rows, so the join loses none. The byte counts are slightly too high.
const waitingStatement = statement("pending events of batch")`
select c.position, ${eventColumns}
from (
  select c.position, c.event_id, sum(c.bytes) over (order by c.position) - c.bytes as bytes_before
  from posthorn.pending_batch_events c
  where c.endpoint_id = $1::uuid
  order by c.position
  limit $2::integer
) c
join posthorn.events e on e.id = c.event_id
where c.bytes_before <= $3::bigint
order by c.position
`;

export interface NewBatch {
  readonly endpointId: Uuid;
  readonly event: Event;
  readonly deliveryId: Uuid;
  /** Pending rows to remove. Their events become the batch, in this order. */
  readonly positions: readonly number[];
  readonly memberIds: readonly Uuid[];
}

export const writeBatch = run<[batch: NewBatch]>("write batch", ({ event, ...batch }) => [
  ...fields("id", "tenant", "type", "apiVersion", "payload")(event),
  ...fields("deliveryId", "endpointId", "positions", "memberIds")(batch),
])`
with left_collection as (
  delete from posthorn.pending_batch_events c
  where c.endpoint_id = $7::uuid
    and c.position = any ($8::bigint[])
),
stored as (
  insert into posthorn.events (id, tenant, type, api_version, payload)
  values ($1::uuid, $2::text, $3::text, $4::text, $5::bytea)
),
listed as (
  insert into posthorn.batch_events (batch_id, position, event_id, endpoint_id)
  select $1::uuid, m.place - 1, m.event_id, $7::uuid
  from unnest($9::uuid[]) with ordinality as m (event_id, place)
)
insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
values ($6::uuid, $1::uuid, $7::uuid, posthorn.now(), posthorn.now())
`;

export interface SingleEvent {
  readonly position: number;
  readonly eventId: Uuid;
  readonly deliveryId: Uuid;
  /** Null: not delivered in order. */
  readonly subject: string | null;
  readonly sequence: number | null;
}

/** Enqueues one delivery per event, unless it exists, for an endpoint that no longer takes batches. */
export const enqueueSingly = run<[endpointId: Uuid, members: readonly SingleEvent[]]>(
  "enqueue pending events singly",
  (endpointId, members) => [
    endpointId,
    ...arrays(members, {
      position: int8Array,
      eventId: uuidArray,
      deliveryId: uuidArray,
      subject: textArray,
      sequence: int8Array,
    }),
  ],
)`
with left_collection as (
  delete from posthorn.pending_batch_events c
  where c.endpoint_id = $1::uuid
    and c.position = any ($2::bigint[])
)
insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, subject, sequence)
select distinct m.id, m.event_id, $1::uuid, posthorn.now(), posthorn.now(), m.subject, m.sequence
from unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[]) as m (event_id, id, subject, sequence)
where (m.id in (select d.id from posthorn.delivery_states_of($4::uuid[]) d)) is not true
`;
