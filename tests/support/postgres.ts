// A fresh, empty database for a test, in the server that postgres-setup.ts started for this run.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

export interface TestDatabase {
  connectionString: string;
  /** Ends what is still connected, then removes the database. */
  drop(): Promise<void>;
}

export async function createDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await administer(`create database ${name}`);
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return {
    connectionString: url.href,
    drop: () => administer(`drop database if exists ${name} with (force)`),
  };
}

/** A pool that survives its database being dropped, and lets the process end. */
export function createPool(connectionString: string, config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ max: 4, allowExitOnIdle: true, ...config, connectionString });
  pool.on("error", () => {}); // a dropped database ends its idle connections
  return pool;
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
