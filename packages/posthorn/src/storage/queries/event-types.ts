// The catalogue. Every change locks its one row first, so that versions follow the order of commits.
import type { Queryable } from "../database.ts";
import { changes, fields, firstRow, onlyRow, rows, run, value } from "../query.ts";
import { statement } from "../sql.ts";
import { isCutShort, type PageOfBytes, pageBytes } from "./page.ts";

export interface EventTypeRow {
  readonly name: string;
  readonly apiVersion: string;
  readonly description: string | null;
  /** JSON text as registered. */
  readonly schema: string | null;
  readonly example: string | null;
  readonly redact: readonly string[];
  readonly isDeprecated: boolean;
  readonly isDeleted: boolean;
  /** When it got its first schema; null if it never had one. */
  readonly schemaSinceMs: number | null;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Columns of `posthorn.event_types t`. */
export const eventTypeColumns = `t.name, t.api_version as "apiVersion", t.description, t.schema, t.example,
  to_json(t.redact) as redact, t.is_deprecated as "isDeprecated", t.deleted_at is not null as "isDeleted",
  posthorn.epoch_ms(t.schema_since) as "schemaSinceMs",
  posthorn.epoch_ms(t.created_at) as "createdMs", posthorn.epoch_ms(t.updated_at) as "updatedMs"`;

/** Returns its versions, the latest registration first. */
export const findEventType = rows<EventTypeRow, [name: string]>("find event type")`
select ${eventTypeColumns}
from posthorn.event_types t
where t.name = $1::text
  and t.deleted_at is null
order by t.created_at desc, t.api_version desc
`;

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

const listStatement = statement("list event types")`
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
`;

/** Returns all types. */
export const allEventTypes = rows<EventTypeRow>("all event types")`
select ${eventTypeColumns}
from posthorn.event_types t
where t.deleted_at is null
order by t.name, t.api_version
`;

export interface StoredCatalogue {
  readonly version: number;
  /** Includes deleted types. Null if the catalogue has not changed. */
  readonly types: readonly EventTypeRow[] | null;
}

// JSON text, because it is also read in a caller's transaction with any driver's parsers.
export const catalogueStatement = statement("read catalogue")`
select json_build_object(
  'version', c.version,
  'types', case when c.version > $1::text::bigint then (
    select coalesce(json_agg(to_json(listed)), '[]')
    from (select ${eventTypeColumns} from posthorn.event_types t) listed
  ) end
)::text as catalogue
from posthorn.catalogue c
`;

export type NewEventType = Pick<
  EventTypeRow,
  "name" | "apiVersion" | "description" | "schema" | "example" | "redact" | "isDeprecated"
>;

/** Does not change the version if nothing changed. */
export async function saveEventType(
  tx: Queryable,
  type: NewEventType,
): Promise<{ readonly row: EventTypeRow; readonly isChanged: boolean }> {
  const saved = await save(tx, type);
  return saved === null
    ? { row: await current(tx, type), isChanged: false }
    : { row: saved, isChanged: true };
}

const save = firstRow<EventTypeRow, [NewEventType]>(
  "save event type",
  fields("name", "apiVersion", "description", "schema", "example", "redact", "isDeprecated"),
)`
insert into posthorn.event_types as t
  (name, api_version, description, schema, example, redact, is_deprecated, schema_since)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text[], $7::boolean,
  case when $4::text is not null then posthorn.now() end)
on conflict (name, api_version) do update
set description = excluded.description,
  schema = excluded.schema,
  example = excluded.example,
  redact = excluded.redact,
  is_deprecated = excluded.is_deprecated,
  schema_since = coalesce(t.schema_since, excluded.schema_since),
  created_at = case when t.deleted_at is null then t.created_at else posthorn.now() end,
  updated_at = posthorn.now(),
  deleted_at = null
where (t.description, t.schema, t.example, t.redact, t.is_deprecated, t.deleted_at)
  is distinct from
  (excluded.description, excluded.schema, excluded.example, excluded.redact, excluded.is_deprecated, null)
returning ${eventTypeColumns}
`;

const current = onlyRow<EventTypeRow, [NewEventType]>("current event type", fields("name", "apiVersion"))`
select ${eventTypeColumns}
from posthorn.event_types t
where t.name = $1::text
  and t.api_version = $2::text
`;

/** Deletes one version, or all if null. Returns how many existed. */
export const deleteEventType = changes<[name: string, apiVersion: string | null]>("delete event type")`
update posthorn.event_types t
set deleted_at = posthorn.now()
where t.name = $1::text
  and t.deleted_at is null
  and ($2::text is null or t.api_version = $2::text)
`;

/** Locks the catalogue and returns the number of types, counting versions. */
export async function lockCatalogue(tx: Queryable): Promise<number> {
  await lock(tx);
  return await countTypes(tx);
}

const lock = run("lock catalogue")`
select c.version
from posthorn.catalogue c
for no key update
`;

const countTypes = value<number>("count event types")`
select count(*)
from posthorn.event_types t
where t.deleted_at is null
`;

/** Called in the transaction of a change. */
export const incrementCatalogueVersion = run("increment catalogue version")`
update posthorn.catalogue c
set version = c.version + 1,
  is_strict = c.mode = 'strict' or (c.mode = 'auto' and exists (
    select from posthorn.event_types t
    where t.deleted_at is null
  ))
`;

/** Sets the options for publishing from SQL, which has none. */
export const setCatalogueOptions = run<[mode: string, apiVersion: string]>("set catalogue options")`
update posthorn.catalogue c
set mode = $1::text,
  is_strict = $1::text = 'strict' or ($1::text = 'auto' and exists (
    select from posthorn.event_types t
    where t.deleted_at is null
  )),
  api_version = $2::text
where (c.mode, c.api_version) <> ($1::text, $2::text)
`;
