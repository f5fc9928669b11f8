// Event types: the versions of one, a page of all, or the whole catalogue for the processes that check events.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type EventTypeRow, eventTypeColumns } from "./event-type-row.ts";

/** Its versions, the one registered last first. */
export async function findEventType(db: Queryable, name: string): Promise<EventTypeRow[]> {
  return await db.query<EventTypeRow>(findStatement, [name]);
}

const findStatement = statement(
  "find event type",
  `
select ${eventTypeColumns}
from posthorn.event_types t
where t.name = $1::text
  and t.deleted_at is null
order by t.created_at desc, t.api_version desc
`,
);

export async function listEventTypes(
  db: Queryable,
  after: { readonly name: string; readonly apiVersion: string },
  limit: number,
): Promise<EventTypeRow[]> {
  return await db.query<EventTypeRow>(listStatement, [after.name, after.apiVersion, limit]);
}

const listStatement = statement(
  "list event types",
  `
select ${eventTypeColumns}
from posthorn.event_types t
where (t.name, t.api_version) > ($1::text, $2::text)
  and t.deleted_at is null
order by t.name, t.api_version
limit $3::integer
`,
);

export interface StoredCatalogue {
  readonly version: number;
  /** Deleted ones included; null when there is nothing newer than what was known. */
  readonly types: readonly EventTypeRow[] | null;
}

// One text, because it is also read in a caller's own transaction, with whatever parsers its driver has.
export const catalogueStatement = statement(
  "read catalogue",
  `
select json_build_object(
  'version', c.version,
  'types', case when c.version > $1::bigint then (
    select coalesce(json_agg(to_json(listed)), '[]')
    from (select ${eventTypeColumns} from posthorn.event_types t) listed
  ) end
)::text as catalogue
from posthorn.catalogue c
`,
);
