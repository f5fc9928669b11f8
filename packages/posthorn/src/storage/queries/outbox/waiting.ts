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
with oldest as materialized (
  select o.event_id, o.tenant, o.subject, row_number() over (order by o.event_id) as place
  from posthorn.outbox o
  order by o.event_id
  limit $1::integer
),
-- Ids come from the clocks of those who publish: of a subject, the lowest numbers take the places that its ids have
-- here, or a look full of events that come after one further on would be the last.
subject as materialized (
  select s.tenant, s.subject, array_agg(s.place order by s.place) as places, count(*) as count
  from oldest s
  where s.subject is not null
  group by s.tenant, s.subject
),
waiting as (
  select oldest.event_id, oldest.place
  from oldest
  where oldest.subject is null
  union all
  select lowest.event_id, subject.places[lowest.nth]
  from subject
  cross join lateral (
    select o.event_id, row_number() over (order by o.sequence) as nth
    from posthorn.outbox o
    where o.tenant = subject.tenant
      and o.subject = subject.subject
    order by o.sequence
    limit subject.count
  ) lowest
),
-- the size of a value is known without reading it
sized as (
  select e.id, waiting.place, sum(octet_length(e.payload)) over (order by waiting.place) as bytes
  from waiting
  join posthorn.events e on e.id = waiting.event_id
)
select ${eventColumns}
from sized
join posthorn.events e on e.id = sized.id
where sized.bytes <= $2::bigint
  or sized.place = (select min(place) from waiting)
order by sized.place
`,
);
