// Reads the newest events without payloads, for clients that poll every second. Uses the same indexes as a page of a
// list.
import type { Event, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { ofAll, ofTenant } from "./list.ts";

export interface NewestEvent extends Pick<Event, "id" | "tenant" | "type" | "subject" | "sequence"> {
  readonly apiVersion: string;
  /** It waits for fan-out. */
  readonly isInOutbox: boolean;
}

export async function newestEvents(
  db: Queryable,
  range: { readonly notBefore: Uuid; readonly before: Uuid; readonly limit: number },
  tenant: string | null,
): Promise<NewestEvent[]> {
  const { notBefore, before, limit } = range;
  return tenant === null
    ? await db.query(ofAllStatement, [notBefore, before, limit])
    : await db.query(ofTenantStatement, [notBefore, before, limit, tenant]);
}

const text = (source: string) => `
select e.id, e.tenant, e.type, e.api_version as "apiVersion", e.subject, e.sequence, exists (
    select
    from posthorn.outbox o
    where o.event_id = e.id
  ) as "isInOutbox"
${source}
limit (select $3::integer)
`;

const ofAllStatement = statement("newest events", text(ofAll));
const ofTenantStatement = statement("newest events of tenant", text(ofTenant));
