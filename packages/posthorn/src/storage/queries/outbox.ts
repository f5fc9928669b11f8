// Reads the next events that wait for fan-out, and says when a worker watches for them. Events are not locked; the ingest
// statement takes those that are still there.
import type { Event } from "../../model.ts";
import type { Queryable } from "../database.ts";
import { hasRow } from "../query.ts";
import { statement } from "../sql.ts";
import { type EventRow, eventColumns, toEvent } from "./events/event-row.ts";

export interface WaitingEvents {
  readonly events: readonly Event[];
  /** Those that were published from SQL: the catalogue has not seen their data. */
  readonly unchecked: readonly Event[];
}

export async function waitingEvents(
  db: Queryable,
  limit: { readonly events: number; readonly bytes: number },
): Promise<WaitingEvents> {
  const rows = await db.query<EventRow & { is_checked: boolean }>(waitingStatement, [
    limit.events,
    limit.bytes,
  ]);
  const events = rows.map(toEvent);
  return { events, unchecked: events.filter((_, index) => rows[index]?.is_checked === false) };
}

/** Reads without a cursor, so a transaction that commits late is seen by the next read. */
const waitingStatement = statement("waiting events")`
with oldest as materialized (
  select o.event_id, o.tenant, o.subject, o.is_checked, row_number() over (order by o.event_id) as place
  from posthorn.outbox o
  order by o.event_id
  limit $1::integer
),
-- Ids depend on the publishers' clocks, so a subject's ids may not follow its sequences. Its lowest sequences are read
-- in place of its lowest ids; otherwise a page full of later events would block the subject.
subject as materialized (
  select s.tenant, s.subject, array_agg(s.place order by s.place) as places, count(*) as count
  from oldest s
  where s.subject is not null
  group by s.tenant, s.subject
),
waiting as (
  select oldest.event_id, oldest.is_checked, oldest.place
  from oldest
  where oldest.subject is null
  union all
  select lowest.event_id, lowest.is_checked, subject.places[lowest.nth]
  from subject
  cross join lateral (
    select o.event_id, o.is_checked, row_number() over (order by o.sequence) as nth
    from posthorn.outbox o
    where o.tenant = subject.tenant
      and o.subject = subject.subject
    order by o.sequence
    limit subject.count
  ) lowest
),
-- the size of a value is known without reading it
sized as (
  select e.id, waiting.is_checked, waiting.place, sum(octet_length(e.payload)) over (order by waiting.place) as bytes
  from waiting
  join posthorn.events e on e.id = waiting.event_id
)
select ${eventColumns}, sized.is_checked
from sized
join posthorn.events e on e.id = sized.id
where sized.bytes <= $2::bigint
  or sized.place = (select min(place) from waiting)
order by sized.place
`;

/**
 * Announces that this worker looks into the outbox every few milliseconds, so that publishers need not notify. Returns
 * false if another worker does. The clock of publishers, which tests do not move.
 */
export const watchOutbox = hasRow<[forMs: number, extending: boolean]>("watch outbox")`
update posthorn.outbox_watch w
set ends_at = clock_timestamp() + $1::double precision * interval '1 millisecond'
where w.ends_at < clock_timestamp()
  or $2::boolean
returning w.is_only
`;
