// Counts the queued deliveries by what they wait for, as the view posthorn.waits decides. Up to COUNTED_AT_MOST all are read;
// of a longer queue a sample of its pages, always the same ones, so that the numbers do not jump between two calls.

import type { Queryable } from "../../database.ts";
import { onlyRow } from "../../query.ts";
import type { StoredWaitReason } from "../deliveries/waits.ts";
import { COUNTED_AT_MOST } from "./gauges.ts";

export interface BacklogRow {
  /** Rows of the queue that were read. */
  readonly read: number;
  /** Deliveries that wait for nothing. */
  readonly due: number;
  /** Deliveries that should have been sent more than a minute ago. */
  readonly overdue: number;
  readonly waiting: Readonly<Partial<Record<StoredWaitReason, number>>>;
}

/** Rows of a sample, about. Their waits take 3 µs each. */
const SAMPLED = 4_000;

/** `depth` is the number of unfinished deliveries, possibly an estimate. */
export async function backlogByWait(db: Queryable, depth: number): Promise<BacklogRow> {
  const percent = depth <= COUNTED_AT_MOST ? 100 : (100 * SAMPLED) / depth;
  return await readBacklog(db, percent, COUNTED_AT_MOST);
}

// "= any (array(…))" as in fetch.ts: a join would read the whole queue into a hash table.
const readBacklog = onlyRow<BacklogRow, [percent: number, most: number]>("backlog by wait")`
with sampled as materialized (
  select q.id
  from posthorn.queue q tablesample system ($1::real) repeatable (0)
  limit $2::integer
),
by_reason as (
  select w.reason, count(*) as deliveries,
    count(*) filter (where w.due_since < posthorn.now() - interval '1 minute') as overdue
  from posthorn.waits w
  where w.delivery_id = any (array(select sampled.id from sampled))
  group by w.reason
)
select
  (select count(*) from sampled)::double precision as read,
  coalesce(sum(by_reason.deliveries) filter (where by_reason.reason is null), 0)::double precision as due,
  coalesce(sum(by_reason.overdue), 0)::double precision as overdue,
  coalesce(
    json_object_agg(by_reason.reason, by_reason.deliveries) filter (where by_reason.reason is not null), '{}'
  ) as waiting
from by_reason
`;
