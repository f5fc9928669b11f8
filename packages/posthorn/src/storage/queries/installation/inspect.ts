// Reads whether queued deliveries are being sent, for `posthorn doctor`.
import { Database } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface InstallationFacts {
  /** Live workers that deliver. */
  readonly workers: number;
  /** A delivery is due whose endpoint is not disabled. */
  readonly isWorkWaiting: boolean;
}

/** Uses a connection of its own. The schema must be up to date. */
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

// A lane of a dead worker may have due deliveries, which only another worker would find.
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
