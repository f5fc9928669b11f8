// Reads a range of events without payloads, oldest first, for a replay against current subscriptions. Test events are
// excluded.
import type { Event, Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface RangeEvent extends Pick<Event, "id" | "tenant" | "type" | "subject" | "sequence"> {
  /** It waits for fan-out, which will use the current subscriptions. */
  readonly isInOutbox: boolean;
}

export async function eventsBetween(
  db: Queryable,
  { after, before, tenant, limit }: { after: Uuid; before: Uuid; tenant: string | null; limit: number },
): Promise<RangeEvent[]> {
  return tenant === null
    ? await db.query(ofAllStatement, [after, before, limit])
    : await db.query(ofTenantStatement, [after, before, limit, tenant]);
}

const text = (condition: string) => `
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
  ${condition}
order by e.id
limit $3::integer
`;

const ofAllStatement = statement("events between", text(""), { replansEachTime: true });
const ofTenantStatement = statement("events of tenant between", text("and e.tenant = $4::text"), {
  replansEachTime: true,
});

/** Returns the payloads that filters need. */
export async function payloadsOf(db: Queryable, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, Buffer>> {
  const rows = await db.query<{ id: Uuid; payload: Buffer }>(payloadsStatement, [uuidArray(ids)]);
  return new Map(rows.map(({ id, payload }) => [id, payload]));
}

const payloadsStatement = statement(
  "payloads of events",
  "select e.id, e.payload from posthorn.events e where e.id = any ($1::uuid[])",
);

/** Returns which of these deliveries exist, queued or finished. */
export async function existingDeliveries(db: Queryable, ids: readonly Uuid[]): Promise<ReadonlySet<Uuid>> {
  const rows = await db.query<{ id: Uuid }>(existingStatement, [uuidArray(ids)]);
  return new Set(rows.map(({ id }) => id));
}

const existingStatement = statement(
  "existing deliveries",
  "select d.id from posthorn.delivery_states d where d.id = any ($1::uuid[])",
);
