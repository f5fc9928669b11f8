// Reads a range of events without payloads, oldest first, for a replay against current subscriptions. Test events
// and rejected events are excluded.
import type { Event, Uuid } from "../../../model.ts";
import { column, fields, mapOf, rows } from "../../query.ts";

export interface RangeEvent extends Pick<Event, "id" | "tenant" | "type" | "subject" | "sequence"> {
  /** It waits for fan-out, which will use the current subscriptions. */
  readonly isInOutbox: boolean;
}

export const eventsBetween = rows<
  RangeEvent,
  [{ readonly after: Uuid; readonly before: Uuid; readonly tenant: string | null; readonly limit: number }]
>({ name: "events between", replansEachTime: true }, fields("after", "before", "limit", "tenant"))`
select e.id, e.tenant, e.type, e.subject, e.sequence, exists (
    select
    from posthorn.outbox o
    where o.event_id = e.id
  ) as "isInOutbox"
from posthorn.events e
where e.id > $1::uuid
  and e.id < $2::uuid
  and e.is_test is not true
  and e.type <> 'webhook.batch'
  and not exists (select from posthorn.rejected_events r where r.event_id = e.id)
  and ($4::text is null or e.tenant = $4::text)
order by e.id
limit $3::integer
`;

/** Returns the payloads that filters need. */
export const payloadsOf = mapOf<Uuid, Buffer, [ids: readonly Uuid[]]>("payloads of events")`
select e.id, e.payload
from posthorn.events e
where e.id = any ($1::uuid[])
`;

/** Returns which of these deliveries exist, queued or finished. */
export const existingDeliveries = column<Uuid, [ids: readonly Uuid[]]>("existing deliveries")`
select d.id
from posthorn.delivery_states_of($1::uuid[]) d
`;
