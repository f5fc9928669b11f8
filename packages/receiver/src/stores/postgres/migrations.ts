// The schema, version by version, as SQL that can be run in psql.
import { claim } from "./migrations/claim.ts";
import { history } from "./migrations/history.ts";
import { inbox } from "./migrations/inbox.ts";
import { subjects } from "./migrations/subjects.ts";
import { subscriptions } from "./migrations/subscriptions.ts";
import { tables } from "./migrations/tables.ts";
import { transactions } from "./migrations/transactions.ts";

export const DEFAULT_SCHEMA = "posthorn_receiver";

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Records itself, so that `store.migrate()` skips it afterwards. Run it in a transaction. */
  readonly sql: string;
}

/** The SQL of each version, oldest first, for applications that run their own migrations. */
export function migrations(schema: string = DEFAULT_SCHEMA): readonly Migration[] {
  checkSchema(schema);
  return versions.map(([name, text], index) => {
    const version = index + 1;
    const prefix = version === 1 ? schemaSql(schema) : "";
    const record = `insert into posthorn_receiver.versions (version, name) values (${version}, '${name}');`;
    return { version, name, sql: `${prefix}${inSchema(`${text.trim()}\n\n${record}\n`, schema)}` };
  });
}

/** A released version is never changed. */
const versions = [
  ["baseline", tables + subjects + claim + transactions + inbox + history + subscriptions],
] as const;

/** Replaces the schema name posthorn_receiver, for which the statements are written. */
export function inSchema(text: string, schema: string): string {
  return text.replaceAll(/(?<![\w."])posthorn_receiver\./g, `"${schema}".`);
}

export function checkSchema(schema: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(schema)) return;
  throw new TypeError(
    `The schema name ${JSON.stringify(schema)} is not valid. Use at most 63 letters, digits, _ and -, not starting with a digit.`,
  );
}

/** "create schema if not exists" would require the permission to create one even if it exists. */
function schemaSql(schema: string): string {
  return `do $schema$
begin
  if not exists (select from pg_catalog.pg_namespace where nspname = '${schema}') then
    create schema "${schema}";
  end if;
end
$schema$;

create table "${schema}".versions (
  version integer primary key,
  name text not null,
  applied_at timestamptz not null default now()
);

`;
}
