// Deletes kept rows that are no longer needed: a dead letter that was retried and delivered, and old rows in the
// default partition. Ids contain the event's time, so events, their deliveries and their attempts are in the same
// range.
import { lowestUuidAt, uuidTimeMs } from "@posthorn/wire";
import type { Uuid } from "../../../model.ts";
import type { Database } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface PrunedRange {
  readonly rows: number;
  /** Start of the next range; null when `before` was reached. */
  readonly next: Uuid | null;
}

/** Prunes the first `most` events from `from` to `before`, and everything that belongs to them. */
export async function pruneRange(
  db: Database,
  { from, before, retentionDays, most }: { from: Uuid; before: Uuid; retentionDays: number; most: number },
): Promise<PrunedRange> {
  return await db.transaction(async (tx) => {
    const [last] = await tx.query<{ id: Uuid }>(lastStatement, [from, before, most]);
    // an event and its deliveries share the milliseconds of their ids
    const next = last === undefined ? null : lowestUuidAt(uuidTimeMs(last.id) + 1);
    const end = next ?? before;
    let rows = 0;
    for (const [prune, values] of [
      [deliveriesStatement, [from, end, retentionDays]],
      [attemptsStatement, [from, end]],
      [eventsStatement, [from, end]],
    ] as const) {
      const [pruned] = await tx.query<{ count: number }>(prune, values);
      rows += pruned?.count ?? 0;
    }
    return { rows, next };
  });
}

const lastStatement = statement(
  "last event of range",
  `
select e.id
from posthorn.events e
where e.id >= $1::uuid
  and e.id < $2::uuid
order by e.id
offset $3::integer - 1
limit 1
`,
);

// Counts from the end of the delivery: an old dead letter that was retried today is kept as long as any other success.
const deliveriesStatement = statement(
  "prune deliveries",
  `
with pruned as (
  delete from posthorn.deliveries d
  where d.id >= $1::uuid
    and d.id < $2::uuid
    and d.state = 'success'
    and d.finished_at < posthorn.now() - $3::integer * interval '24 hours'
  returning 1
)
select count(*)::integer as count
from pruned
`,
);

// A delivery is always either in the queue or in history, so one snapshot sees it.
const attemptsStatement = statement(
  "prune attempts",
  `
with pruned as (
  delete from posthorn.attempts a
  where a.delivery_id >= $1::uuid
    and a.delivery_id < $2::uuid
    and not exists (select from posthorn.deliveries d where d.id = a.delivery_id and d.id >= $1::uuid and d.id < $2::uuid)
    and not exists (select from posthorn.queue q where q.id = a.delivery_id)
  returning 1
)
select count(*)::integer as count
from pruned
`,
);

const eventsStatement = statement(
  "prune events",
  `
with pruned as (
  delete from posthorn.events e
  where e.id >= $1::uuid
    and e.id < $2::uuid
    and (e.id in (
      select d.event_id from posthorn.deliveries d where d.id >= $1::uuid and d.id < $2::uuid
      union all
      select q.event_id from posthorn.queue q where q.id >= $1::uuid and q.id < $2::uuid
      union all
      select o.event_id from posthorn.outbox o where o.event_id >= $1::uuid and o.event_id < $2::uuid
      union all
      select c.event_id from posthorn.pending_batch_events c where c.event_id >= $1::uuid and c.event_id < $2::uuid
    )) is not true
  returning 1
)
select count(*)::integer as count
from pruned
`,
);
