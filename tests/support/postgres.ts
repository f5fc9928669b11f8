// A fresh database for a test, empty or migrated, in the server that postgres-setup.ts started for this run, or in
// another.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

export interface TestDatabase {
  connectionString: string;
  /** Ends what is still connected, then removes the database. */
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
  // not by way of the log: without fsync the checkpoint that copying files needs costs less than the log does
  await administer(server, `create database ${name} template ${template} strategy file_copy`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    connectionString: url.href,
    drop: () => administer(server, `drop database if exists ${name} with (force)`),
  };
}

/** A pool that survives its database being dropped, and lets the process end. */
export function createPool(connectionString: string, config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ max: 4, allowExitOnIdle: true, ...config, connectionString });
  pool.on("error", () => {}); // a dropped database ends its idle connections
  return pool;
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
