// Rolls five-minute intervals up into hours and deletes expired intervals. Rolling up is idempotent: an hour is written
// as the sum of its intervals.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { latencySums } from "./sums.ts";

/** Rolls up the next `limit` endpoints by id. Returns the last of them, or null if there were no more. */
export async function rollUpHour(
  db: Queryable,
  hour: Date,
  after: Uuid | null,
  most: number,
): Promise<Uuid | null> {
  const [row] = await db.query<{ last: Uuid | null }>(rollUpStatement, [hour, after, most]);
  return row?.last ?? null;
}

const rollUpStatement = statement(
  "roll up activity",
  `
with taken as materialized (
  select distinct a.endpoint_id
  from posthorn.activity a
  where a.width = 300
    and a.at >= $1::timestamptz
    and a.at < $1::timestamptz + interval '1 hour'
    and ($2::uuid is null or a.endpoint_id > $2::uuid)
  order by a.endpoint_id
  limit $3::integer
),
rolled as (
  insert into posthorn.activity as known (width, at, endpoint_id, success, failed, dead, latency)
  select 3600, $1::timestamptz, a.endpoint_id, sum(a.success), sum(a.failed), sum(a.dead), array[${latencySums}]
  from posthorn.activity a
  where a.width = 300
    and a.at = any (array(
      select generate_series($1::timestamptz, $1::timestamptz + interval '55 minutes', interval '5 minutes')
    ))
    and a.endpoint_id = any (array(select taken.endpoint_id from taken))
  group by a.endpoint_id
  on conflict (width, at, endpoint_id) do update
  set success = excluded.success,
    failed = excluded.failed,
    dead = excluded.dead,
    latency = excluded.latency
  where known.latency is distinct from excluded.latency
)
select taken.endpoint_id as last
from taken
order by taken.endpoint_id desc
limit 1
`,
);

/** Returns how many were deleted, at most `most`. */
export async function pruneActivity(
  db: Queryable,
  width: number,
  keptSeconds: number,
  most: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>(pruneStatement, [width, keptSeconds, most]);
  return row?.count ?? 0;
}

const pruneStatement = statement(
  "prune activity",
  `
with pruned as (
  delete from posthorn.activity a
  where a.ctid = any (array(
      select old.ctid
      from posthorn.activity old
      where old.width = $1::integer
        and old.at < posthorn.now() - $2::double precision * interval '1 second'
      limit $3::integer
      for update skip locked
    ))
  returning 1
)
select count(*)::integer as count
from pruned
`,
);
