// A fresh database for a test, empty or migrated, in the server that postgres-setup.ts started for this run, or in
// another.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { eventually } from "../eventually.ts";
import { queryOnce } from "./own-postgres.ts";

export interface TestDatabase {
  connectionString: string;
  /** Closes open connections, then drops the database. */
  drop(): Promise<void>;
}

/** With nothing in it. */
export function createDatabase(server: string = inject("postgresUrl")): Promise<TestDatabase> {
  return copyDatabase(server, "template1");
}

/** With Posthorn's schema in it. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return copyDatabase(inject("postgresUrl"), inject("migratedTemplate"));
}

async function copyDatabase(server: string, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  // not through the WAL: without fsync the checkpoint that copying files needs is cheaper
  await queryOnce(server, `create database ${name} template ${template} strategy file_copy`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    connectionString: url.href,
    drop: async () => void (await queryOnce(server, `drop database if exists ${name} with (force)`)),
  };
}

/** Runs the work in a transaction: commits, or rolls back if it throws. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (tx: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

/** A pool that survives its database being dropped, and lets the process end. */
export function createPool(connectionString: string, config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ max: 4, allowExitOnIdle: true, ...config, connectionString });
  pool.on("error", () => {}); // a dropped database ends its idle connections
  return pool;
}

/** Waits until this many statements in the pool's database wait for a lock. */
export async function lockWaits(pool: pg.Pool, count = 1): Promise<void> {
  await eventually("the statements wait for a lock", async () => {
    const { rows } = await pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length >= count;
  });
}

/** Waits until the queue and the outbox are empty. */
export async function queueEmpty(pool: pg.Pool, limitMs?: number): Promise<void> {
  const isEmpty = async () => {
    const { rows } = await pool.query(
      "select from posthorn.unfinished union all select from posthorn.outbox limit 1",
    );
    return rows.length === 0;
  };
  await eventually("the queue and the outbox are empty", isEmpty, limitMs);
}
