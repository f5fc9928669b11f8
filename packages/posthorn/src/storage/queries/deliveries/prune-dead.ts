// Deletes dead letters that are older than their own retention period, which is off by default. Their attempts and
// events are pruned like those of other deliveries.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** Counts from the end of the delivery. Returns how many were deleted, at most `most`. */
export async function pruneDead(db: Queryable, days: number, most: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(pruneStatement, [days, most]);
  return row?.count ?? 0;
}

// The bound on the id follows from the one on finished_at and excludes later partitions.
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
        -- a dead letter that holds its subject waits for a person
        and (old.id in (select held.delivery_id from posthorn.held_subjects held)) is not true
      limit $2::integer
      for update skip locked
    ))
  returning 1
)
select count(*)::integer as count
from pruned
`,
);
