// Whether anybody sends what is owed, for `posthorn doctor`.
import { Database } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface InstallationFacts {
  /** That deliver, and are alive. */
  readonly workers: number;
  /** Something is due that no disabled endpoint holds back. */
  readonly isWorkWaiting: boolean;
}

/** Asks once, on a connection of its own. The schema is up to date. */
export async function inspectInstallation(
  connectionString: string,
  schema: string,
): Promise<InstallationFacts> {
  const db = new Database({ database: connectionString, schema, maxConnections: 1 });
  try {
    const [row] = await db.query<InstallationFacts>(inspectStatement);
    return row as InstallationFacts;
  } finally {
    await db.close();
  }
}

// A lane that a dead worker left behind may have work that is due; only another worker would look.
const inspectStatement = statement(
  "inspect installation",
  `
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
`,
);
