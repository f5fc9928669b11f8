// The next events that wait for their fan-out. Not locked here: the ingest statement takes what is still there.
import type { Event } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type EventRow, eventColumns, toEvent } from "../events/event-row.ts";

export async function waitingEvents(
  db: Queryable,
  limit: { readonly events: number; readonly bytes: number },
): Promise<Event[]> {
  const rows = await db.query<EventRow>(waitingStatement, [limit.events, limit.bytes]);
  return rows.map(toEvent);
}

/** Outbox rows are never skipped by a cursor: a transaction that commits late is seen at the next look. */
const waitingStatement = statement(
  "waiting events",
  `
with waiting as (
  select o.event_id
  from posthorn.outbox o
  order by o.event_id
  limit $1::integer
),
-- the size of a value is known without reading it
sized as (
  select e.id, sum(octet_length(e.payload)) over (order by e.id) as bytes
  from waiting
  join posthorn.events e on e.id = waiting.event_id
)
select ${eventColumns}
from sized
join posthorn.events e on e.id = sized.id
where sized.bytes <= $2::bigint
  or sized.id = (select min(event_id::text)::uuid from waiting)
order by e.id
`,
);
