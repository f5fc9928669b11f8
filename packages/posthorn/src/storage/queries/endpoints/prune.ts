// Deletes the rows of deleted endpoints once no history refers to them.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** Returns how many were deleted, at most `most`. */
export async function pruneDeletedEndpoints(db: Queryable, days: number, most: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(pruneStatement, [days, most]);
  return row?.count ?? 0;
}

// "limit 1" keeps both as separate index lookups; as a join they would read all of history. Rows in flight have no
// index by endpoint, but none is in flight a retention period after its endpoint was deleted.
const pruneStatement = statement(
  "prune deleted endpoints",
  `
with pruned as (
  delete from posthorn.endpoints ep
  where ep.id = any (array(
      select gone.id
      from posthorn.endpoints gone
      where gone.deleted_at < posthorn.now() - $1::integer * interval '24 hours'
        and not exists (
          select from posthorn.queue q where q.endpoint_id = gone.id and q.claimed_by is null limit 1
        )
        and not exists (select from posthorn.deliveries d where d.endpoint_id = gone.id limit 1)
      limit $2::integer
      for update skip locked
    ))
  returning 1
)
select count(*)::integer as count
from pruned
`,
);
