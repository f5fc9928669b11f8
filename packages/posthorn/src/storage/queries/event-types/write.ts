// Changes the catalogue. Every change locks its one row first, so that versions follow the order of commits.
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type EventTypeRow, eventTypeColumns } from "./event-type-row.ts";

export type NewEventType = Pick<
  EventTypeRow,
  "name" | "apiVersion" | "description" | "schema" | "example" | "redact" | "isDeprecated"
>;

/** Does not change the version if nothing changed. */
export async function saveEventType(
  tx: Queryable,
  type: NewEventType,
): Promise<{ readonly row: EventTypeRow; readonly isChanged: boolean }> {
  const { name, apiVersion, description, schema, example, redact, isDeprecated } = type;
  const key = [name, apiVersion];
  const [saved] = await tx.query<EventTypeRow>(saveStatement, [
    ...key,
    description,
    schema,
    example,
    textArray(redact),
    isDeprecated,
  ]);
  if (saved !== undefined) return { row: saved, isChanged: true };
  const [same] = await tx.query<EventTypeRow>(sameStatement, key);
  return { row: same as EventTypeRow, isChanged: false };
}

const saveStatement = statement(
  "save event type",
  `
insert into posthorn.event_types as t
  (name, api_version, description, schema, example, redact, is_deprecated)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text[], $7::boolean)
on conflict (name, api_version) do update
set description = excluded.description,
  schema = excluded.schema,
  example = excluded.example,
  redact = excluded.redact,
  is_deprecated = excluded.is_deprecated,
  created_at = case when t.deleted_at is null then t.created_at else posthorn.now() end,
  updated_at = posthorn.now(),
  deleted_at = null
where (t.description, t.schema, t.example, t.redact, t.is_deprecated, t.deleted_at)
  is distinct from
  (excluded.description, excluded.schema, excluded.example, excluded.redact, excluded.is_deprecated, null)
returning ${eventTypeColumns}
`,
);

const sameStatement = statement(
  "current event type",
  `
select ${eventTypeColumns}
from posthorn.event_types t
where t.name = $1::text
  and t.api_version = $2::text
`,
);

/** Deletes one version, or all if null. Returns how many existed. */
export async function deleteEventType(
  tx: Queryable,
  name: string,
  apiVersion: string | null,
): Promise<number> {
  return (await tx.query(deleteStatement, [name, apiVersion])).length;
}

const deleteStatement = statement(
  "delete event type",
  `
update posthorn.event_types t
set deleted_at = posthorn.now()
where t.name = $1::text
  and t.deleted_at is null
  and ($2::text is null or t.api_version = $2::text)
returning t.api_version
`,
);

/** Locks the catalogue and returns the number of types, counting versions. */
export async function lockCatalogue(tx: Queryable): Promise<number> {
  await tx.query(lockStatement);
  const [row] = await tx.query<{ types: number }>(countStatement);
  return row?.types ?? 0;
}

const lockStatement = statement(
  "lock catalogue",
  "select c.version from posthorn.catalogue c for no key update",
);

const countStatement = statement(
  "count event types",
  "select count(*) as types from posthorn.event_types t where t.deleted_at is null",
);

/** Called in the transaction of a change. */
export async function incrementCatalogueVersion(tx: Queryable): Promise<void> {
  await tx.query(raiseStatement);
}

const raiseStatement = statement(
  "increment catalogue version",
  `
update posthorn.catalogue c
set version = c.version + 1,
  is_strict = c.mode = 'strict' or (c.mode = 'auto' and exists (
    select from posthorn.event_types t
    where t.deleted_at is null
  ))
`,
);

/** Sets the mode for publishing from SQL, which has no options. */
export async function setCatalogueMode(db: Queryable, mode: string): Promise<void> {
  await db.query(modeStatement, [mode]);
}

const modeStatement = statement(
  "set catalogue mode",
  `
update posthorn.catalogue c
set mode = $1::text,
  is_strict = $1::text = 'strict' or ($1::text = 'auto' and exists (
    select from posthorn.event_types t
    where t.deleted_at is null
  ))
where c.mode <> $1::text
`,
);
