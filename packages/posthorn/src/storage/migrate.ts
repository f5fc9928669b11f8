// Migrates a database to the schema of this version. Each migration is recorded in its own transaction, under a lock
// that the transaction holds: a killed migrator leaves nothing half-applied, and concurrent migrators find it done.
import { setTimeout as sleep } from "node:timers/promises";
import { PosthornError } from "../errors.ts";
import { type Database, isConflict, type Queryable } from "./database.ts";
import { migrations as allMigrations, type Migration } from "./generated/migrations.ts";
import {
  type AppliedMigration,
  acquireMigrationLock,
  createSchema,
  createTable,
  limitLockWaits,
  readApplied,
  readSchemaState,
  recordApplied,
  runScript,
} from "./queries/migrations.ts";
import { ensurePartitions, ensureText } from "./queries/partitions.ts";
import { inSchema } from "./sql.ts";

export interface MigrateOptions {
  /** Changes nothing; `script` contains the SQL that would run. */
  readonly dryRun?: boolean;
  /** How long one try waits for a lock before it lets others proceed and retries. */
  readonly lockTimeoutMs?: number;
  readonly lockTries?: number;
  readonly migrations?: readonly Migration[];
}

export interface MigrationName {
  readonly version: number;
  readonly name: string;
}

export interface MigrateResult {
  /** Migrations applied by this call. */
  readonly applied: readonly MigrationName[];
  readonly pending: readonly MigrationName[];
  /** Version of the database; 0 if it was never migrated. */
  readonly version: number;
  /** SQL of the pending migrations, runnable with psql. Empty if there are none. */
  readonly script: string;
}

export async function migrate(db: Database, options: MigrateOptions = {}): Promise<MigrateResult> {
  const { migrations = allMigrations, lockTimeoutMs = 2_000, lockTries = 15 } = options;
  if (options.dryRun === true) return { ...(await survey(db, migrations)), applied: [] };
  const applied: MigrationName[] = [];
  const patiently = <Result>(work: () => Promise<Result>) => retryLocked(work, lockTries);
  // without locks, because most starts find nothing to do
  const { pending } = await read(db, migrations);
  if (pending.length > 0) await patiently(() => createSchemaAndTable(db, lockTimeoutMs));
  for (let isDone = pending.length === 0; !isDone; ) {
    const next = await patiently(() => applyNext(db, migrations, lockTimeoutMs));
    isDone = next === null;
    if (next !== null) applied.push(next);
  }
  await patiently(() => ensurePartitions(db, 3, lockTimeoutMs));
  return { applied, pending: [], version: migrations.length, script: "" };
}

export interface MigrationStatus {
  readonly version: number;
  /** The version this code needs. */
  readonly codeVersion: number;
  readonly applied: readonly (MigrationName & { readonly appliedAt: Date })[];
  readonly pending: readonly MigrationName[];
}

/** Throws schema_too_new or schema_changed like migrate(). */
export async function migrationStatus(
  db: Database,
  migrations: readonly Migration[] = allMigrations,
): Promise<MigrationStatus> {
  const { applied, pending } = await read(db, migrations);
  return {
    version: applied.length,
    codeVersion: migrations.length,
    applied: applied.map(({ version, name, appliedMs }) => ({
      version,
      name,
      appliedAt: new Date(appliedMs),
    })),
    pending: pending.map(nameOf),
  };
}

async function survey(
  db: Database,
  migrations: readonly Migration[],
): Promise<Omit<MigrateResult, "applied">> {
  const { applied, pending, ...ground } = await read(db, migrations);
  return {
    pending: pending.map(nameOf),
    version: applied.length,
    script: wholeScript(ground, pending, db.schema),
  };
}

/** The status of a database that does not exist yet. */
export function statusOfNewDatabase(schema: string): MigrateResult & MigrationStatus {
  const pending = allMigrations.map(nameOf);
  const script = wholeScript({ hasSchema: false, hasTable: false }, allMigrations, schema);
  return { version: 0, codeVersion: pending.length, applied: [], pending, script };
}

function wholeScript(
  { hasSchema, hasTable }: { readonly hasSchema: boolean; readonly hasTable: boolean },
  pending: readonly Migration[],
  schema: string,
): string {
  const ground = [
    ...(hasSchema ? [] : [createSchema(schema)]),
    ...(hasTable ? [] : [inSchema(createTable.text, schema)]),
  ];
  const steps = pending.map(
    (migration) =>
      `-- ${migration.version} ${migration.name}\nbegin;\n${scriptOf(migration, schema)}\ncommit;\n`,
  );
  const ensure = inSchema(ensureText.trim(), schema).replace("$1::integer", "3");
  const partitions = pending.length === 0 ? [] : [`${ensure};\n`];
  return [...ground.map((sql) => `${sql};\n`), ...steps, ...partitions].join("\n");
}

function scriptOf(migration: Migration, schema: string): string {
  const { version, name, checksum, sql } = migration;
  const record = `insert into posthorn.migrations (version, name, checksum) values (${version}, '${name}', '${checksum}');`;
  return inSchema(`${sql.trimEnd()}\n\n${record}`, schema);
}

/** Checks first, because "create schema if not exists" needs the privilege to create schemas even if it exists. */
async function createSchemaAndTable(db: Database, lockTimeoutMs: number): Promise<void> {
  await db.transaction(async (tx) => {
    await acquireMigrationLock(tx, db.schema);
    await limitLockWaits(tx, lockTimeoutMs);
    const { hasSchema, hasTable } = await readSchemaState(tx, db.schema);
    if (!hasSchema) {
      const sql = createSchema(db.schema);
      await runScript(tx, sql).catch((error) => {
        throw withoutRight(error, `Ask a privileged user to run: ${sql} authorization <this role>`);
      });
    }
    if (!hasTable) {
      await tx.query(createTable).catch((error) => {
        throw withoutRight(error, `Grant it: grant usage, create on schema "${db.schema}" to <this role>`);
      });
    }
  });
}

function withoutRight(error: unknown, remedy: string): unknown {
  if ((error as { code?: string }).code !== "42501") return error;
  const reason = (error as Error).message;
  return new PosthornError("schema_missing", `The database cannot be migrated: ${reason}. ${remedy}.`, {
    cause: error,
  });
}

async function applyNext(
  db: Database,
  migrations: readonly Migration[],
  lockTimeoutMs: number,
): Promise<MigrationName | null> {
  return await db.transaction(async (tx) => {
    await acquireMigrationLock(tx, db.schema);
    // a separate statement after the lock sees what another migrator committed
    const [next] = compare(await readApplied(tx), migrations, db.schema);
    if (next === undefined) return null;
    await limitLockWaits(tx, lockTimeoutMs);
    await runScript(tx, inSchema(next.sql, db.schema));
    await recordApplied(tx, next);
    return nameOf(next);
  });
}

async function read(db: Queryable & { schema: string }, migrations: readonly Migration[]) {
  const ground = await readSchemaState(db, db.schema);
  const applied = ground.hasTable ? await readApplied(db) : [];
  return { ...ground, applied, pending: compare(applied, migrations, db.schema) };
}

/** Returns the pending migrations. */
function compare(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  schema: string,
): readonly Migration[] {
  const newest = applied.at(-1);
  if (newest !== undefined && newest.version > migrations.length) {
    throw new PosthornError(
      "schema_too_new",
      `Schema "${schema}" is at version ${newest.version} (${newest.name}); this Posthorn supports versions up to ` +
        `${migrations.length}. Run the newer Posthorn that migrated it, or restore an earlier backup.`,
    );
  }
  for (const { version, checksum } of applied) {
    const known = migrations[version - 1];
    if (known?.checksum === checksum) continue;
    throw new PosthornError(
      "schema_changed",
      `Migration ${version} was applied to schema "${schema}" with different content from this version of Posthorn. ` +
        "Run a released version of Posthorn; a migration is never changed after its release.",
    );
  }
  return migrations.slice(applied.length);
}

async function retryLocked<Result>(work: () => Promise<Result>, tries: number): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (tried >= tries) {
        throw new PosthornError(
          "database_unavailable",
          `The migration could not lock its tables in ${tries} tries. End long transactions and try again.`,
          { cause: error },
        );
      }
      // lets the statements that queued behind this one proceed
      await sleep(Math.min(1_000, 50 * 2 ** tried) * (0.5 + Math.random() / 2));
    }
  }
}

function nameOf({ version, name }: MigrationName): MigrationName {
  return { version, name };
}
