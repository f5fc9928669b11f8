// Reads the batches of an event and the events of a batch.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface BatchOfEvent {
  readonly endpointId: Uuid;
  /** Event id of the batch; null: not created yet. */
  readonly batchId: Uuid | null;
}

/** Returns them in the order of creation, pending ones last. */
export async function batchesOfEvent(db: Queryable, eventId: Uuid): Promise<BatchOfEvent[]> {
  return await db.query<BatchOfEvent>(ofEventStatement, [eventId]);
}

const ofEventStatement = statement(
  "batches of event",
  `
select m.endpoint_id as "endpointId", m.batch_id as "batchId"
from posthorn.batch_events m
where m.event_id = $1::uuid
union all
select c.endpoint_id, null
from posthorn.pending_batch_events c
where c.event_id = $1::uuid
order by 2 nulls last, 1
`,
);

/** Returns event ids in batch order; empty if the event is not a batch. */
export async function membersOfBatch(db: Queryable, batchId: Uuid): Promise<Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(membersStatement, [batchId]);
  return rows.map(({ id }) => id);
}

const membersStatement = statement(
  "members of batch",
  `
select m.event_id as id
from posthorn.batch_events m
where m.batch_id = $1::uuid
order by m.position
`,
);

/** Deletes the members of batches that no longer exist. Returns how many, at most `most`. */
export async function pruneMembers(db: Queryable, days: number, most: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(pruneStatement, [days, most]);
  return row?.count ?? 0;
}

const pruneStatement = statement(
  "prune batch members",
  `
with pruned as (
  delete from posthorn.batch_events m
  where (m.batch_id, m.position) in (
    select old.batch_id, old.position
    from posthorn.batch_events old
    where old.batch_id < posthorn.lowest_uuid_at(posthorn.now() - $1::integer * interval '24 hours')
      and not exists (select from posthorn.events e where e.id = old.batch_id)
    order by old.batch_id
    limit $2::integer
  )
  returning 1
)
select count(*)::integer as count
from pruned
`,
);
