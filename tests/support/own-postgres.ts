// An embedded PostgreSQL that belongs to one test, which may therefore stop it, restart it and change its settings.
import { rmSync } from "node:fs";
import pg from "pg";
import { openEmbeddedPostgres } from "../../packages/embedded-postgres/src/open.ts";
import { eventually } from "./eventually.ts";
import { makePostgresFolder } from "./postgres-folder.ts";
import { postmasterPid } from "./postmaster-pid.ts";

export interface OwnPostgres {
  readonly connectionString: string;
  /** What `pg_ctl stop -m immediate` does: no checkpoint, no goodbye; the next start recovers. */
  stopImmediately(): Promise<void>;
  start(): Promise<void>;
  /** On a connection of its own, as superuser. */
  query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
  close(): Promise<void>;
}

export async function openOwnPostgres(
  settings: Record<string, string> = {},
  parent?: string,
): Promise<OwnPostgres> {
  // a name by which the next run finds and removes what a killed one left behind: see postgres-setup.ts
  const dataDir = makePostgresFolder(`posthorn-tests-${process.pid}-`, parent);
  let { connectionString, close } = await openEmbeddedPostgres({ dataDir, settings });
  const earlier: (typeof close)[] = [];
  return {
    get connectionString() {
      return connectionString;
    },
    async stopImmediately() {
      process.kill(postmasterPid(dataDir) as number, "SIGQUIT");
      await eventually("the server is gone", () => postmasterPid(dataDir) === null);
    },
    async start() {
      earlier.push(close);
      ({ connectionString, close } = await openEmbeddedPostgres({ dataDir, settings }));
    },
    query: (sql) => queryOnce(connectionString, sql),
    async close() {
      for (const leave of [...earlier, close]) await leave();
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export async function queryOnce<Row extends pg.QueryResultRow>(
  connectionString: string,
  sql: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {}); // the query rejects too
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
