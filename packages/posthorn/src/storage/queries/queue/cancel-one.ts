// Cancels or deletes one delivery: an unfinished one becomes dead, a dead one is deleted. At a `fifo` endpoint other
// deliveries may wait for it: the endpoint's version is incremented, so that the lane's owner promotes the next one.
// Only the owner promotes; see promote.ts.
import type { Uuid } from "../../../model.ts";
import type { Database, Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export type CancelResult =
  | {
      readonly kind: "cancelled" | "deleted";
      readonly endpointId: Uuid;
      readonly owner: number | null;
      /** Other deliveries may wait for it. */
      readonly isOrdered: boolean;
    }
  | { readonly kind: "not_found" | "in_flight" | "over" | "not_dead" };

interface Known {
  readonly endpointId: Uuid;
  readonly state: string;
  readonly isOrdered: boolean;
}

/** Cancels a queued delivery that is not in flight: dead, with the reason `cancelled`. */
export async function cancelDelivery(db: Database, deliveryId: Uuid): Promise<CancelResult> {
  return await db.transaction(async (tx) => {
    const known = await find(tx, deliveryId);
    if (known === null) return { kind: "not_found" };
    if (known.state === "success" || known.state === "dead") return { kind: "over" };
    const owner = await lock(tx, known);
    const [cancelled] = await tx.query(cancelStatement, [deliveryId]);
    // it was claimed meanwhile
    return cancelled === undefined ? { kind: "in_flight" } : { kind: "cancelled", owner, ...known };
  });
}

/** Deletes a dead letter. Its attempts and its event are dropped with their day. */
export async function deleteDead(db: Database, deliveryId: Uuid): Promise<CancelResult> {
  return await db.transaction(async (tx) => {
    const known = await find(tx, deliveryId);
    if (known === null) return { kind: "not_found" };
    if (known.state !== "dead") return { kind: "not_dead" };
    const owner = await lock(tx, known);
    const [deleted] = await tx.query(deleteStatement, [deliveryId]);
    return deleted === undefined ? { kind: "not_dead" } : { kind: "deleted", owner, ...known };
  });
}

async function find(tx: Queryable, deliveryId: Uuid): Promise<Known | null> {
  const [row] = await tx.query<Known>(findStatement, [deliveryId]);
  return row ?? null;
}

/** Locks the endpoint, then its lane. Returns the lane's owner. */
async function lock(tx: Queryable, { endpointId, isOrdered }: Known): Promise<number | null> {
  if (!isOrdered) return null;
  await tx.query(raiseVersionStatement, [endpointId]);
  const [lane] = await tx.query<{ owner: number | null }>(lockLaneStatement, [endpointId]);
  return lane?.owner ?? null;
}

const findStatement = statement(
  "find to cancel",
  `
select d.endpoint_id as "endpointId", d.state,
  exists (select from posthorn.queue q where q.id = d.id and q.subject is not null)
    or exists (
      select
      from posthorn.held_subjects h
      join posthorn.events e on e.subject = h.subject and e.sequence = h.sequence
      where e.id = d.event_id
        and h.endpoint_id = d.endpoint_id
    ) as "isOrdered"
from posthorn.delivery_states d
where d.id = $1::uuid
`,
);

const raiseVersionStatement = statement(
  "increment endpoint version",
  `
update posthorn.endpoints
set version = version + 1
where id = $1::uuid
`,
);

// the next owner promotes the next delivery
const lockLaneStatement = statement(
  "lock lane to cancel",
  `
update posthorn.lanes
set ready_at = case
    when paused or owner is not null then ready_at
    else least(ready_at, posthorn.now())
  end
where endpoint_id = $1::uuid
returning owner
`,
);

const cancelStatement = statement(
  "cancel one",
  `
with cancelled as (
  delete from posthorn.queue q
  where q.id = $1::uuid
    and q.claimed_by is null
  returning q.id, q.event_id, q.endpoint_id, q.attempts, q.replay_count, q.subject, q.sequence
),
-- like any dead delivery
held as (
  insert into posthorn.held_subjects (endpoint_id, subject, sequence, delivery_id)
  select c.endpoint_id, c.subject, c.sequence, c.id
  from cancelled c
  join posthorn.endpoints ep on ep.id = c.endpoint_id
  where c.subject is not null
    and ep.ordering = 'fifo'
    and ep.fifo_on_dead = 'hold'
    and ep.deleted_at is null
)
insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
select c.id, c.event_id, c.endpoint_id, 'dead', 'cancelled', c.attempts, c.replay_count, posthorn.now()
from cancelled c
returning id
`,
);

const deleteStatement = statement(
  "delete dead letter",
  `
with deleted as (
  delete from posthorn.deliveries d
  where d.id = $1::uuid
    and d.state = 'dead'
  returning d.id, d.endpoint_id, d.event_id
),
let_go as (
  delete from posthorn.held_subjects h
  using deleted, posthorn.events e
  where e.id = deleted.event_id
    and h.endpoint_id = deleted.endpoint_id
    and h.subject = e.subject
    and h.sequence = e.sequence
)
select deleted.id
from deleted
`,
);
