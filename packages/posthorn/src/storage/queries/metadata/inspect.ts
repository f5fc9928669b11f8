// Reads facts about the database and the installation, for `posthorn doctor`. Each uses its own connection.
import { Database } from "../../database.ts";
import { onlyRow, run } from "../../query.ts";

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

export function inspectDatabase(connectionString: string): Promise<DatabaseFacts> {
  return withConnection(connectionString, "posthorn", async (db) => {
    // the time to connect must not count as clock difference
    await warmUp(db);
    const requestedMs = Date.now();
    const { nowMs, ...facts } = await databaseFacts(db);
    return { ...facts, clockAheadMs: Math.round(nowMs - (requestedMs + Date.now()) / 2) };
  });
}

const warmUp = run("warm up")`select 1`;

const databaseFacts = onlyRow<Omit<DatabaseFacts, "clockAheadMs"> & { nowMs: number }>("inspect database")`
select
  current_setting('server_version_num')::integer as "versionNumber",
  current_setting('fsync') = 'on' as fsync,
  current_setting('synchronous_commit') as "synchronousCommit",
  pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isReadOnly",
  (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
  current_setting('max_connections')::integer as "maxConnections",
  (select count(*)::integer from pg_stat_activity) as "usedConnections"
`;

export interface InstallationFacts {
  /** Live workers that deliver. */
  readonly workers: number;
  /** A delivery is due whose endpoint is not disabled. */
  readonly isWorkWaiting: boolean;
}

/** The schema must be up to date. */
export function inspectInstallation(connectionString: string, schema: string): Promise<InstallationFacts> {
  return withConnection(connectionString, schema, installationFacts);
}

// A lane of a dead worker may have due deliveries, which only another worker would find.
const installationFacts = onlyRow<InstallationFacts>("inspect installation")`
select
  (
    select count(*)::integer
    from posthorn.workers w
    where w.delivers
      and w.lease_expires_at > posthorn.now()
  ) as workers,
  exists (select from posthorn.outbox o)
    or exists (
      select
      from posthorn.lanes l
      where not l.paused
        and (l.owner is not null or l.ready_at <= posthorn.now())
    ) as "isWorkWaiting"
`;

async function withConnection<Facts>(
  database: string,
  schema: string,
  read: (db: Database) => Promise<Facts>,
): Promise<Facts> {
  const db = new Database({ database, schema, maxConnections: 1 });
  try {
    return await read(db);
  } finally {
    await db.close();
  }
}
