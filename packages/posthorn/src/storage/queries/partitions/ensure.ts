// Creates the partitions of today and the next days, under the migration lock: two processes that create the same table
// at once would both fail.
import type { Database } from "../../database.ts";
import { statement } from "../../sql.ts";
import { acquireMigrationLock, limitLockWaits } from "../migrations/bookkeeping.ts";

/** Returns how many were created. Throws 55P03 if a table stayed locked; a later call is safe. */
export async function ensurePartitions(db: Database, daysAhead = 3, lockTimeoutMs = 2_000): Promise<number> {
  return await db.transaction(async (tx) => {
    await acquireMigrationLock(tx, db.schema);
    await limitLockWaits(tx, lockTimeoutMs);
    const [row] = await tx.query<{ made: number }>(ensureStatement, [daysAhead]);
    return row?.made ?? 0;
  });
}

// Days are in UTC, whatever the session's time zone.
export const ensureStatement = statement(
  "ensure partitions",
  `
select posthorn.ensure_partitions(today.day, today.day + $1::integer) as made
from (select (posthorn.now() at time zone 'UTC')::date as day) today
`,
  { hasNoTimeout: true },
);
