// Reads the versions of a type, a page of types, or the whole catalogue.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { isCutShort, type PageOfBytes, pageBytes } from "../page-bytes.ts";
import { type EventTypeRow, eventTypeColumns } from "./event-type-row.ts";

/** Returns its versions, the latest registration first. */
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

export interface ListedEventTypes {
  readonly types: readonly EventTypeRow[];
  /** The page was cut short by its size in bytes. */
  readonly isCutShort: boolean;
}

export interface EventTypeFilter {
  /** End of the previous page; empty for the first. */
  readonly after: { readonly name: string; readonly apiVersion: string };
  readonly limit: number;
  /** Null: any name. */
  readonly name: string | null;
  /** Empty: any prefix. */
  readonly prefix: string;
}

export async function listEventTypes(
  db: Queryable,
  { after, limit, name, prefix }: EventTypeFilter,
): Promise<ListedEventTypes> {
  const values = [after.name, after.apiVersion, limit, name, prefix];
  const types = await db.query<EventTypeRow & PageOfBytes>(listStatement, values);
  return { types, isCutShort: isCutShort(types) };
}

const { columns: bytesColumns, isShown } = pageBytes(
  "coalesce(octet_length(t.schema), 0) + coalesce(octet_length(t.example), 0)",
  "t.name, t.api_version",
);

const listStatement = statement(
  "list event types",
  `
select page.*
from (
  select ${eventTypeColumns}, ${bytesColumns}
  from (
    select t.*
    from posthorn.event_types t
    where (t.name, t.api_version) > ($1::text, $2::text)
      and ($4::text is null or t.name = $4::text)
      and starts_with(t.name, $5::text)
      and t.deleted_at is null
    order by t.name, t.api_version
    limit $3::integer
  ) t
) page
where page.${isShown}
order by page.name, page."apiVersion"
`,
);

/** Returns all types. */
export async function allEventTypes(db: Queryable): Promise<EventTypeRow[]> {
  return await db.query<EventTypeRow>(allStatement, []);
}

const allStatement = statement(
  "all event types",
  `
select ${eventTypeColumns}
from posthorn.event_types t
where t.deleted_at is null
order by t.name, t.api_version
`,
);

export interface StoredCatalogue {
  readonly version: number;
  /** Includes deleted types. Null if the catalogue has not changed. */
  readonly types: readonly EventTypeRow[] | null;
}

// JSON text, because it is also read in a caller's transaction with any driver's parsers.
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
