// Deletes dead letters that are older than their own retention, which is none unless somebody set it. Their attempts
// and events go like any others that no delivery needs.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** Counted from when they died. Returns how many were deleted, at most `most`. */
export async function pruneDead(db: Queryable, days: number, most: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(pruneStatement, [days, most]);
  return row?.count ?? 0;
}

// The bound on the id is implied by the one on finished_at and spares the partitions after it.
const pruneStatement = statement(
  "prune dead letters",
  `
with pruned as (
  delete from posthorn.deliveries d
  where d.id = any (array(
      select old.id
      from posthorn.deliveries old
      where old.state = 'dead'
        and old.id < posthorn.lowest_uuid_at(posthorn.now() - $1::integer * interval '24 hours')
        and old.finished_at < posthorn.now() - $1::integer * interval '24 hours'
        -- without it nobody could retry what its subject waits for
        and not exists (
          select
          from posthorn.held_subjects held
          where held.endpoint_id = old.endpoint_id
            and held.delivery_id = old.id
        )
      limit $2::integer
      for update skip locked
    ))
  returning 1
)
select count(*)::integer as count
from pruned
`,
);
