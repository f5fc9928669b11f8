// The next events that wait for their fan-out. Not locked here: the ingest statement takes what is still there.
import type { Event, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type EventRow, eventColumns, toEvent } from "../events/event-row.ts";

export async function waitingEvents(db: Queryable, limit: number): Promise<Event[]> {
  const rows = await db.query<EventRow>(waitingStatement, [limit]);
  return rows.map(toEvent);
}

/** Outbox rows are never skipped by a cursor: a transaction that commits late is seen at the next look. */
const waitingStatement = statement(
  "waiting events",
  `
select ${eventColumns}
from (
  select o.event_id
  from posthorn.outbox o
  order by o.event_id
  limit $1::integer
) next
join posthorn.events e on e.id = next.event_id
order by e.id
`,
);

export async function isWaiting(db: Queryable, eventId: Uuid): Promise<boolean> {
  const rows = await db.query(isWaitingStatement, [eventId]);
  return rows.length > 0;
}

const isWaitingStatement = statement(
  "is waiting",
  "select 1 from posthorn.outbox o where o.event_id = $1::uuid",
);
