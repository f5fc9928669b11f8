// Reads version and settings of the database, for `posthorn doctor`.
import { Database } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface DatabaseFacts {
  /** 180004 is 18.4. */
  readonly versionNumber: number;
  readonly fsync: boolean;
  readonly synchronousCommit: string;
  /** A standby, or read-only by its settings. */
  readonly isReadOnly: boolean;
  /** How far its clock is ahead of this machine's. */
  readonly clockAheadMs: number;
  readonly maxConnections: number;
  readonly usedConnections: number;
}

interface Row {
  readonly versionNumber: number;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly isReadOnly: boolean;
  readonly nowMs: number;
  readonly maxConnections: number;
  readonly usedConnections: number;
}

/** Uses a connection of its own. */
export async function inspectDatabase(connectionString: string): Promise<DatabaseFacts> {
  const db = new Database({ database: connectionString, schema: "posthorn", maxConnections: 1 });
  try {
    await db.query(warmUpStatement);
    const askedMs = Date.now();
    const [row] = await db.query<Row>(inspectStatement);
    if (row === undefined) throw new Error("The database gave no answer about itself.");
    const { fsync, nowMs, ...facts } = row;
    const clockAheadMs = Math.round(Number(nowMs) - (askedMs + Date.now()) / 2);
    return { ...facts, fsync: fsync === "on", clockAheadMs };
  } finally {
    await db.close();
  }
}

// the time to connect must not count as clock difference
const warmUpStatement = statement("warm up", "select 1");

const inspectStatement = statement(
  "inspect database",
  `
select
  current_setting('server_version_num')::integer as "versionNumber",
  current_setting('fsync') as fsync,
  current_setting('synchronous_commit') as "synchronousCommit",
  pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isReadOnly",
  (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
  current_setting('max_connections')::integer as "maxConnections",
  (select count(*)::integer from pg_stat_activity) as "usedConnections"
`,
);
