// Creates a batch in a transaction that holds the endpoint's lane. The statement that writes the batch removes its
// events from the pending ones.
import type { Event, Uuid } from "../../../model.ts";
import { int4Array, int8Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
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
const waitingStatement = statement(
  "pending events of batch",
  `
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
`,
);

export interface NewBatch {
  readonly endpointId: Uuid;
  readonly event: Event;
  readonly deliveryId: Uuid;
  /** Pending rows to remove. Their events become the batch, in this order. */
  readonly positions: readonly number[];
  readonly memberIds: readonly Uuid[];
}

export async function writeBatch(tx: Queryable, batch: NewBatch): Promise<void> {
  const { event } = batch;
  await tx.query(writeStatement, [
    event.id,
    event.tenant,
    event.type,
    event.apiVersion,
    event.payload,
    batch.deliveryId,
    batch.endpointId,
    int8Array(batch.positions),
    uuidArray(batch.memberIds),
    int4Array(batch.memberIds.map((_, index) => index)),
  ]);
}

const writeStatement = statement(
  "write batch",
  `
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
  select $1::uuid, m.position, m.event_id, $7::uuid
  from unnest($9::uuid[], $10::integer[]) as m (event_id, position)
)
insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
values ($6::uuid, $1::uuid, $7::uuid, posthorn.now(), posthorn.now())
`,
);

export interface SingleEvent {
  readonly position: number;
  readonly eventId: Uuid;
  readonly deliveryId: Uuid;
  /** Null: not delivered in order. */
  readonly subject: string | null;
  readonly sequence: number | null;
}

/** Enqueues one delivery per event, unless it exists, for an endpoint that no longer takes batches. */
export async function enqueueSingly(
  tx: Queryable,
  endpointId: Uuid,
  members: readonly SingleEvent[],
): Promise<void> {
  await tx.query(singlyStatement, [
    endpointId,
    int8Array(members.map(({ position }) => position)),
    uuidArray(members.map(({ eventId }) => eventId)),
    uuidArray(members.map(({ deliveryId }) => deliveryId)),
    textArray(members.map(({ subject }) => subject)),
    int8Array(members.map(({ sequence }) => sequence)),
  ]);
}

const singlyStatement = statement(
  "enqueue pending events singly",
  `
with left_collection as (
  delete from posthorn.pending_batch_events c
  where c.endpoint_id = $1::uuid
    and c.position = any ($2::bigint[])
)
insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, subject, sequence)
select distinct m.id, m.event_id, $1::uuid, posthorn.now(), posthorn.now(), m.subject, m.sequence
from unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[]) as m (event_id, id, subject, sequence)
where (m.id in (select d.id from posthorn.delivery_states d where d.id = any ($4::uuid[]))) is not true
`,
);
