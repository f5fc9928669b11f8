// Adds queue rows for deliveries that so far have none, because their events claim them. They stay claimed by their
// worker. The rows are durable before the worker forgets the deliveries: its next heartbeat may exclude their events.
import type { ClaimedDelivery, Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Database, Queryable } from "../../database.ts";
import { hasRow, run } from "../../query.ts";
import { durableCommit } from "../../sql.ts";

/** Adds the rows of these deliveries, which have an outcome to record or are to be released. */
export const addQueueRows = run<[workerId: number, deliveries: readonly ClaimedDelivery[]]>(
  "add queue rows",
  (workerId, deliveries) => [
    workerId,
    uuidArray(deliveries.map(({ id }) => id)),
    uuidArray(deliveries.map(({ event }) => event.id)),
    uuidArray(deliveries.map(({ endpointId }) => endpointId)),
  ],
)`
with gate as materialized (
  select w.id, ${durableCommit} as durable
  from posthorn.workers w
  where w.id = $1::integer
  for key share
)
${insertInto(`
from gate
cross join unnest($2::uuid[], $3::uuid[], $4::uuid[]) as c (id, event_id, endpoint_id)
where (select true from posthorn.deliveries d where d.id = c.id limit 1) is null
  -- a dead letter that was deleted is no longer claimed
  and (select position(uuid_send(c.id) in e.claims) > 0 from posthorn.events e where e.id = c.event_id)`)}
`;

/**
 * Adds the rows of all deliveries that events before this one claim for the worker. The lock waits for a statement of
 * this worker whose reply was lost; a statement that starts later neither claims nor settles them, because
 * `claims_since` has changed.
 */
export async function addAllQueueRows(db: Database, workerId: number, before: Uuid): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await lockWorker(tx, workerId))) return;
    await addRowsBefore(tx, workerId, before);
    await raiseClaimsSince(tx, workerId, before);
  });
}

const lockWorker = hasRow<[workerId: number]>("lock worker to add queue rows")`
select w.id, ${durableCommit} as durable
from posthorn.workers w
where w.id = $1::integer
for update
`;

const raiseClaimsSince = run<[workerId: number, before: Uuid]>("raise claims_since")`
update posthorn.workers
set claims_since = greatest(claims_since, $2::uuid)
where id = $1::integer
`;

/** Adds the rows of all deliveries that events claim for a worker whose row the caller has locked. */
export const addQueueRowsOf = (tx: Queryable, workerId: number): Promise<void> =>
  addRowsBefore(tx, workerId, "ffffffff-ffff-ffff-ffff-ffffffffffff");

const addRowsBefore = run<[workerId: number, before: Uuid]>("add queue rows before")`
${insertInto(`
from posthorn.event_claims() c
cross join (select $1::integer as id) gate
where c.claimed_by = $1::integer
  and c.event_id < $2::uuid`)}
`;

/** `source` has the columns of a claim `c` and the worker's id as `gate.id`. */
function insertInto(source: string): string {
  const createdAt = "to_timestamp(posthorn.uuid_ms(c.event_id) / 1000)";
  return `
insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, claimed_by)
select c.id, c.event_id, c.endpoint_id, ${createdAt}, ${createdAt}, gate.id
${source.trim()}
on conflict do nothing`;
}
