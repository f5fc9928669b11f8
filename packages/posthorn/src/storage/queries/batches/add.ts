// Adds stored events to the next batch of an endpoint, in a transaction that holds its lane.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface EventForEndpoint {
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
}

/** Adds events regardless of earlier batches, but never twice to the pending one. Returns how many were added. */
export async function addToNextBatch(tx: Queryable, events: readonly EventForEndpoint[]): Promise<number> {
  return await collected(tx, againStatement, events);
}

/** Adds only events that were in no batch of the endpoint. Returns how many were added. */
export async function addMissingToNextBatch(
  tx: Queryable,
  events: readonly EventForEndpoint[],
): Promise<number> {
  return await collected(tx, missingStatement, events);
}

async function collected(
  tx: Queryable,
  insert: typeof againStatement,
  events: readonly EventForEndpoint[],
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(insert, [
    uuidArray(events.map(({ eventId }) => eventId)),
    uuidArray(events.map(({ endpointId }) => endpointId)),
  ]);
  return row?.count ?? 0;
}

/** The envelope of an event in a batch takes less than a kilobyte, without attributes. */
const collectText = (condition: string) => `
with waiting as (
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
  returning 1
)
select count(*)::integer as count
from waiting
`;

const againStatement = statement("add to batch", collectText(""));

const missingStatement = statement(
  "add missing to batch",
  collectText(`and not exists (
      select
      from posthorn.batch_events m
      where m.event_id = asked.event_id
        and m.endpoint_id = asked.endpoint_id
    )`),
);

/** Returns which of these events are in a batch of the endpoint or wait for one. */
export async function inBatches(
  db: Queryable,
  events: readonly EventForEndpoint[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<EventForEndpoint>(inBatchesStatement, [
    uuidArray(events.map(({ eventId }) => eventId)),
  ]);
  return new Set(rows.map(({ eventId, endpointId }) => `${eventId} ${endpointId}`));
}

const inBatchesStatement = statement(
  "events in batches",
  `
select m.event_id as "eventId", m.endpoint_id as "endpointId"
from posthorn.batch_events m
where m.event_id = any ($1::uuid[])
union
select c.event_id, c.endpoint_id
from posthorn.pending_batch_events c
where c.event_id = any ($1::uuid[])
`,
);
