// Adds queue rows for deliveries that so far only their events claim (migration 0012). Their worker stays the claimant.
import type { ClaimedDelivery, Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Database, Queryable } from "../../database.ts";
import { hasRow, run } from "../../query.ts";

/** Adds the rows of these deliveries, which have an outcome to record or are to be released. */
export const queueClaims = run<[workerId: number, deliveries: readonly ClaimedDelivery[]]>(
  "queue claims",
  (workerId, deliveries) => [
    workerId,
    uuidArray(deliveries.map(({ id }) => id)),
    uuidArray(deliveries.map(({ event }) => event.id)),
    uuidArray(deliveries.map(({ endpointId }) => endpointId)),
  ],
)`
with gate as materialized (
  select w.id
  from posthorn.workers w
  where w.id = $1::integer
  for key share
)
${insertInto(`
from gate
cross join unnest($2::uuid[], $3::uuid[], $4::uuid[]) as c (id, event_id, endpoint_id)
where (select true from posthorn.deliveries d where d.id = c.id limit 1) is null`)}
`;

/**
 * Adds the rows of all deliveries that events before this one claim for the worker. The lock waits for a statement of
 * this worker whose reply was lost; a statement that starts later claims nothing, because `claims_since` has changed.
 */
export async function queueAllClaims(db: Database, workerId: number, before: Uuid): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await lockWorker(tx, workerId))) return;
    await queueClaimsBefore(tx, workerId, before);
    await claimsQueued(tx, workerId, before);
  });
}

const lockWorker = hasRow<[workerId: number]>("lock worker to queue claims")`
select w.id
from posthorn.workers w
where w.id = $1::integer
for update
`;

const claimsQueued = run<[workerId: number, before: Uuid]>("claims queued")`
update posthorn.workers
set claims_since = greatest(claims_since, $2::uuid)
where id = $1::integer
`;

/** Adds the rows of all deliveries that events claim for a worker whose row the caller has locked. */
export const queueClaimsOf = (tx: Queryable, workerId: number): Promise<void> =>
  queueClaimsBefore(tx, workerId, "ffffffff-ffff-ffff-ffff-ffffffffffff");

const queueClaimsBefore = run<[workerId: number, before: Uuid]>("queue claims before")`
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
