// Migrates a database to the newest version. Each version is one transaction that also records itself, under a lock: a
// killed process leaves nothing half-done, and only one of several processes applies it.
import { type PostgresDatabase, type Query, sqlState } from "./database.ts";
import { migrations } from "./migrations.ts";

export async function migrate(db: PostgresDatabase<unknown>, schema: string): Promise<void> {
  for (;;) {
    if ((await pendingAfter(await appliedVersion(db.query, schema), schema)) === undefined) return;
    await db.transaction({ text: lock, values: [schema] }, async (_, __, query) => {
      // After the lock, in its own statement, so that versions committed meanwhile are visible.
      const next = pendingAfter(await appliedVersion(query, schema), schema);
      if (next !== undefined) await run(query, next.sql, schema);
      return { result: undefined, last: null };
    });
  }
}

function pendingAfter(applied: number, schema: string) {
  const known = migrations(schema);
  if (applied > known.length) {
    throw new Error(
      `The schema "${schema}" has version ${applied}, but this @posthorn/receiver supports ${known.length}. Update the package.`,
    );
  }
  return known[applied];
}

const lock = "select pg_advisory_xact_lock(hashtextextended($1::text, 7075))::text as locked";

/** Checks the catalogue first, because a missing table, or one in a forbidden schema, cannot be queried. */
async function appliedVersion(query: Query, schema: string): Promise<number> {
  const [found] = await query(hasVersions, [schema]);
  if (found?.present !== true) return 0;
  const [row] = await query(`select coalesce(max(version), 0) as version from "${schema}".versions`, []);
  return Number(row?.version);
}

const hasVersions = `
select exists (
  select
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1::text
    and c.relname = 'versions'
) as present
`;

/** Runs several statements in one text, whichever protocol the library uses. */
async function run(query: Query, sql: string, schema: string): Promise<void> {
  await query("select length(set_config('posthorn_receiver.migration', $1::text, true)) as length", [sql]);
  try {
    await query("do $do$ begin execute current_setting('posthorn_receiver.migration'); end $do$", []);
  } catch (error) {
    if (sqlState(error) !== "42501") throw error;
    throw new Error(
      `The schema "${schema}" cannot be migrated: ${(error as Error).message}. Ask a role with the privilege to run: ` +
        `create schema "${schema}" authorization <this role>; or give the name of a schema of yours: postgresStore(pool, { schema }).`,
      { cause: error },
    );
  }
}
