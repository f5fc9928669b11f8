// Counts the rows of a table that a call looks at: what it costs among many others is known that way without measuring
// time. A statement is planned for its values the first times and for any values later, so both plans are tried.
import type { Database, Queryable } from "../../packages/posthorn/src/storage/database.ts";
import { statement } from "../../packages/posthorn/src/storage/sql.ts";

export async function rowsRead(
  db: Database,
  table: "events" | "deliveries" | "attempts" | "queue",
  work: (tx: Queryable) => Promise<unknown>,
): Promise<number> {
  const read: number[] = [];
  for (const prepared of [forAnyValues, forTheseValues]) {
    await db.transaction(async (tx) => {
      const before = await count(tx, table);
      await work({
        async query(asked, values) {
          await tx.query(asked.replansEachTime ? forTheseValues : prepared);
          return await tx.query(asked, values);
        },
      });
      read.push((await count(tx, table)) - before);
    });
  }
  return Math.max(...read);
}

const forAnyValues = statement("plan for any values", "set local plan_cache_mode = force_generic_plan");
const forTheseValues = statement("plan for these values", "set local plan_cache_mode = force_custom_plan");

async function count(tx: Queryable, table: string): Promise<number> {
  const [row] = await tx.query<{ read: number }>(countStatement, [table]);
  return row?.read ?? 0;
}

/** With its partitions. */
const countStatement = statement(
  "rows read",
  `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read
   from pg_stat_xact_user_tables
   where schemaname = 'posthorn' and (relname = $1 or relname like $1 || '\\_%')`,
);
