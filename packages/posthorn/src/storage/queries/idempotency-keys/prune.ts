// Deletes expired idempotency keys.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** Returns how many were deleted, at most `most`. */
export async function pruneKeys(db: Queryable, days: number, most: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(pruneStatement, [days, most]);
  return row?.count ?? 0;
}

// Locked keys are left for the next run.
const pruneStatement = statement(
  "prune idempotency keys",
  `
with old as materialized (
  select k.tenant, k.key
  from posthorn.idempotency_keys k
  where k.created_at < posthorn.now() - $1::integer * interval '24 hours'
  order by k.created_at
  limit $2::integer
  for update skip locked
),
pruned as (
  delete from posthorn.idempotency_keys k
  using old
  where k.tenant = old.tenant
    and k.key = old.key
  returning 1
)
select count(*)::integer as count
from pruned
`,
);
