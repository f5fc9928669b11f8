// The schema, version by version, as SQL that can be run in psql.
import { tables } from "./migrations/1-tables.ts";
import { subjects } from "./migrations/2-subjects.ts";
import { claim } from "./migrations/3-claim.ts";
import { inbox } from "./migrations/4-inbox.ts";
import { subscriptions } from "./migrations/5-subscriptions.ts";

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
    const ground = version === 1 ? groundOf(schema) : "";
    const record = `insert into posthorn_receiver.versions (version, name) values (${version}, '${name}');`;
    return { version, name, sql: `${ground}${inSchema(`${text.trim()}\n\n${record}\n`, schema)}` };
  });
}

/** A released version is never changed. */
const versions = [
  ["tables", tables],
  ["subjects", subjects],
  ["claim", claim],
  ["inbox", inbox],
  ["subscriptions", subscriptions],
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
function groundOf(schema: string): string {
  return `do $ground$
begin
  if not exists (select from pg_catalog.pg_namespace where nspname = '${schema}') then
    create schema "${schema}";
  end if;
end
$ground$;

create table "${schema}".versions (
  version integer primary key,
  name text not null,
  applied_at timestamptz not null default now()
);

`;
}
