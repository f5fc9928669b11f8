// Reads and records applied migrations. Works behind a transaction pooler: the only lock ends with its transaction.
import type { Queryable } from "../database.ts";
import { fields, onlyRow, rows, run } from "../query.ts";
import { statement } from "../sql.ts";

export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly appliedMs: number;
}

/** Waits for other migrators of this schema; released when the transaction ends. */
export const acquireMigrationLock = run<[schema: string]>({
  name: "acquire migration lock",
  hasNoTimeout: true,
})`select pg_advisory_xact_lock(hashtext('posthorn migrate'), hashtext($1::text))::text`;

/**
 * A migration may run long but must not wait long for locks: all later statements queue behind a waiting `alter table`.
 */
export const limitLockWaits = run<[lockTimeoutMs: number, runAtMostMs?: number]>(
  "limit lock waits",
  (lockTimeoutMs, runAtMostMs = 0) => [String(lockTimeoutMs), String(runAtMostMs)],
)`select set_config('lock_timeout', $1::text, true), set_config('statement_timeout', $2::text, true)`;

export interface Ground {
  readonly hasSchema: boolean;
  readonly hasTable: boolean;
}

// Reads the system catalogue, because to_regclass fails if the role has no access to the schema.
export const readSchemaState = onlyRow<Ground, [schema: string]>("read schema state")`
select
  exists (select from pg_catalog.pg_namespace n where n.nspname = $1::text) as "hasSchema",
  exists (
    select
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1::text
      and c.relname = 'migrations'
  ) as "hasTable"
`;

/** The name is part of the text, because DDL takes no parameters; isSchemaName has checked it. */
export const createSchema = (schema: string): string => `create schema "${schema}"`;

export const createTable = statement("create migrations table")`
create table posthorn.migrations (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
)
`;

// posthorn.epoch_ms does not exist yet when this table is first read
export const readApplied = rows<AppliedMigration>("read applied migrations")`
select m.version, m.name, m.checksum, extract(epoch from m.applied_at)::double precision * 1000 as "appliedMs"
from posthorn.migrations m
order by m.version
`;

/** Runs a migration of many statements, with either protocol of the driver. */
export async function runScript(tx: Queryable, sql: string): Promise<void> {
  await tx.query(storeTextStatement, [sql]);
  await tx.query(runStatement);
}

const storeTextStatement = statement(
  "store migration text",
)`select length(set_config('posthorn_migration.sql', $1::text, true)) as length`;

const runStatement = statement({
  name: "run migration",
  hasNoTimeout: true,
})`do $migration$ begin execute current_setting('posthorn_migration.sql'); end $migration$`;

export const recordApplied = run<
  [migration: { readonly version: number; readonly name: string; readonly checksum: string }]
>(
  "record migration",
  fields("version", "name", "checksum"),
)`insert into posthorn.migrations (version, name, checksum) values ($1::integer, $2::text, $3::text)`;
