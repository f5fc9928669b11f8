// Deletes kept rows that are no longer needed: a dead letter that was retried and delivered, and old rows in the
// default partition. Ids contain the event's time, so events, their deliveries and their attempts are in the same
// range.
import { lowestUuidAt, uuidTimeMs } from "@posthorn/wire";
import type { Uuid } from "../../../model.ts";
import type { Database } from "../../database.ts";
import { changes, value } from "../../query.ts";

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
    const last = await lastEvent(tx, from, before, most);
    // an event and its deliveries share the milliseconds of their ids
    const next = last === null ? null : lowestUuidAt(uuidTimeMs(last) + 1);
    const end = next ?? before;
    const deliveries = await pruneDeliveries(tx, from, end, retentionDays);
    const attempts = await pruneAttempts(tx, from, end);
    return { rows: deliveries + attempts + (await pruneEvents(tx, from, end)), next };
  });
}

const lastEvent = value<Uuid | null, [from: Uuid, before: Uuid, most: number]>("last event of range")`
select e.id
from posthorn.events e
where e.id >= $1::uuid
  and e.id < $2::uuid
order by e.id
offset $3::integer - 1
limit 1
`;

// Counts from the end of the delivery: an old dead letter that was retried today is kept as long as any other success.
const pruneDeliveries = changes<[from: Uuid, end: Uuid, retentionDays: number]>("prune deliveries")`
delete from posthorn.deliveries d
where d.id >= $1::uuid
  and d.id < $2::uuid
  and d.state = 'success'
  and d.finished_at < posthorn.now() - $3::integer * interval '24 hours'
`;

// A delivery is always either in the queue or in history, so one snapshot sees it.
const pruneAttempts = changes<[from: Uuid, end: Uuid]>("prune attempts")`
delete from posthorn.attempt_log a
where a.delivery_id >= $1::uuid
  and a.delivery_id < $2::uuid
  and not exists (select from posthorn.deliveries d where d.id = a.delivery_id and d.id >= $1::uuid and d.id < $2::uuid)
  and not exists (select from posthorn.queue q where q.id = a.delivery_id)
`;

const pruneEvents = changes<[from: Uuid, end: Uuid]>("prune events")`
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
    select r.event_id from posthorn.rejected_events r
    where r.event_id >= $1::uuid and r.event_id < $2::uuid and r.discarded_at is null
    union all
    select c.event_id from posthorn.pending_batch_events c where c.event_id >= $1::uuid and c.event_id < $2::uuid
  )) is not true
`;
