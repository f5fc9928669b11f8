// Reaps dead workers: their deliveries are released, with an attempt recorded as unknown, because it may have been
// sent. It does not count as a failure.
import type { Uuid } from "../../../model.ts";
import type { Database, Queryable } from "../../database.ts";
import { changes, column, hasRow, onlyRow, rows, run } from "../../query.ts";
import { nextReadyAt } from "../lanes/ready-at.ts";
import { addQueueRowsOf } from "../queue/event-claims.ts";

export interface OtherWorker {
  readonly id: number;
  /** Changes with every heartbeat. */
  readonly leaseExpiresMs: number;
  readonly leaseEnded: boolean;
  /**
   * Its heartbeat is late, or it is suspected, and its session has ended, which proves its death regardless of the clocks.
   */
  readonly sessionGone: boolean;
  readonly delivers: boolean;
  /** Utilisation of its event loop at its last heartbeat, from 0 to 1. */
  readonly utilisation: number;
  /** The number of its lanes at its last heartbeat. */
  readonly lanes: number;
  readonly socket: string | null;
}

// a lock acquired here ends with the statement's transaction
export const otherWorkers = rows<
  OtherWorker,
  [me: number, schema: string, lateMs: number, suspects: readonly number[]]
>("other workers")`
select
  w.id,
  posthorn.epoch_ms(w.lease_expires_at) as "leaseExpiresMs",
  w.lease_expires_at < posthorn.now() as "leaseEnded",
  w.holds_liveness_lock
    and (
      w.lease_expires_at < posthorn.now() + $3::double precision * interval '1 millisecond'
      or w.id = any ($4::integer[])
    )
    and pg_try_advisory_xact_lock(hashtext('posthorn worker ' || $2::text), w.id) as "sessionGone",
  w.delivers,
  w.utilisation,
  w.lanes,
  w.socket
from posthorn.workers w
where w.id <> $1::integer
`;

export interface Reaped {
  readonly workerId: number;
  readonly deliveries: number;
  readonly lanes: number;
}

/**
 * Returns null if it renewed its lease meanwhile, or if another worker is reaping it. A worker that stops reaps itself
 * with `leaseExpiresMs` null, after it has released its deliveries.
 */
export async function reap(
  db: Database,
  worker: { readonly id: number; readonly leaseExpiresMs: number | null },
): Promise<Reaped | null> {
  return await db.transaction(async (tx) => {
    if (!(await lockDead(tx, worker.id, worker.leaseExpiresMs))) return null;
    await addQueueRowsOf(tx, worker.id);
    const reaped = await releaseAll(tx, worker.id);
    await remove(tx, worker.id);
    return reaped;
  });
}

/** Returns owners of lanes or deliveries that are not registered, which should not happen. */
export const missingWorkers = column<number>("missing workers")`
select held.id
from (
  select l.owner as id
  from posthorn.lanes l
  where l.owner is not null
  union
  select q.claimed_by
  from posthorn.queue q
  where q.claimed_by is not null
) held
where not exists (select from posthorn.workers w where w.id = held.id)
`;

export async function reapMissing(db: Database, workerId: number): Promise<Reaped> {
  return await db.transaction((tx) => releaseAll(tx, workerId));
}

// separate statements see everything the dead worker committed before its row was locked
async function releaseAll(tx: Queryable, workerId: number): Promise<Reaped> {
  const { count, endpoints } = await releaseDeliveries(tx, workerId);
  // a delivery that is being inserted into such a lane must be visible when the lane becomes ready
  await lockLanes(tx, workerId, endpoints);
  return { workerId, deliveries: count, lanes: await releaseLanes(tx, workerId, endpoints) };
}

const lockDead = hasRow<[id: number, leaseExpiresMs: number | null]>("lock dead worker")`
select w.id
from posthorn.workers w
where w.id = $1::integer
  and ($2::double precision is null or posthorn.epoch_ms(w.lease_expires_at) = $2::double precision)
for update skip locked
`;

// The unknown attempt keeps its trigger; the next one is a retry. An attempt that is already recorded must not prevent
// the release of the others.
const releaseDeliveries = onlyRow<
  { readonly count: number; readonly endpoints: readonly Uuid[] },
  [workerId: number]
>("release deliveries of dead worker")`
with held as (
  select q.id, q.trigger
  from posthorn.queue q
  where q.claimed_by = $1::integer
  for update
),
released as (
  update posthorn.queue q
  set claimed_by = null,
    attempts = q.attempts + 1,
    trigger = 'retry'
  from held
  where q.id = held.id
    and q.claimed_by = $1::integer
  returning q.id, q.attempts, held.trigger, q.endpoint_id
),
recorded as (
  insert into posthorn.attempt_log (delivery_id, number, error, trigger, worker)
  select id, attempts, 'unknown', trigger, $1::integer
  from released
  on conflict do nothing
)
select count(*)::integer as count, coalesce(json_agg(distinct endpoint_id), '[]') as endpoints
from released
`;

// Its lanes, and those of its deliveries, which another worker may own and be releasing.
const lockLanes = run<[workerId: number, endpoints: readonly Uuid[]]>("lock lanes of dead worker")`
select l.endpoint_id
from posthorn.lanes l
where l.owner = $1::integer
  or l.endpoint_id = any ($2::uuid[])
order by l.endpoint_id
for no key update
`;

const releaseLanes = changes<[workerId: number, endpoints: readonly Uuid[]]>("release lanes of dead worker")`
update posthorn.lanes l
set owner = null,
  ready_at = ${nextReadyAt("l")}
where l.owner = $1::integer
  or (l.owner is null and l.endpoint_id = any ($2::uuid[]))
`;

const remove = run<[id: number]>("remove dead worker")`delete from posthorn.workers where id = $1::integer`;
