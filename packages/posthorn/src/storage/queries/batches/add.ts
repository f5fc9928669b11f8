// Adds stored events to the next batch of an endpoint, in a transaction that holds its lane.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { arrays, changes, rows } from "../../query.ts";

export interface EventForEndpoint {
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
}

type AddsEvents = [events: readonly EventForEndpoint[]];

const idsOf = (events: readonly EventForEndpoint[]) =>
  arrays(events, { eventId: uuidArray, endpointId: uuidArray });

/** The envelope of an event in a batch takes less than a kilobyte, without attributes. */
const addText = (condition: string) => `
insert into posthorn.pending_batch_events (endpoint_id, event_id, bytes)
select asked.endpoint_id, e.id,
  octet_length(e.payload) + coalesce(octet_length(e.attributes::text), 0) + 1024
from unnest($1::uuid[], $2::uuid[]) with ordinality as asked (event_id, endpoint_id, position)
join posthorn.events e on e.id = asked.event_id
where not exists (
    select
    from posthorn.pending_batch_events c
    where c.event_id = asked.event_id
      and c.endpoint_id = asked.endpoint_id
  )
  ${condition}
order by asked.position
`;

/** Adds events regardless of earlier batches, but never twice to the pending one. Returns how many were added. */
export const addToNextBatch = changes<AddsEvents>("add to batch", idsOf)`${addText("")}`;

/** Adds only events that were in no batch of the endpoint. Returns how many were added. */
export const addMissingToNextBatch = changes<AddsEvents>("add missing to batch", idsOf)`
${addText(`and not exists (
    select
    from posthorn.batch_events m
    where m.event_id = asked.event_id
      and m.endpoint_id = asked.endpoint_id
  )`)}
`;

/** Returns which of these events are in a batch of the endpoint or wait for one. */
export async function inBatches(
  db: Queryable,
  events: readonly EventForEndpoint[],
): Promise<ReadonlySet<string>> {
  const found = await inAnyBatch(db, events);
  return new Set(found.map(({ eventId, endpointId }) => `${eventId} ${endpointId}`));
}

const inAnyBatch = rows<EventForEndpoint, AddsEvents>("events in batches", (events) => [
  events.map(({ eventId }) => eventId),
])`
select m.event_id as "eventId", m.endpoint_id as "endpointId"
from posthorn.batch_events m
where m.event_id = any ($1::uuid[])
union
select c.event_id, c.endpoint_id
from posthorn.pending_batch_events c
where c.event_id = any ($1::uuid[])
`;
