// Makes one delivery owed now: a retry by hand of anything not in flight, or a test event. From here on it takes the
// same path as every other delivery.
import type { AttemptTrigger, Event, Uuid } from "../../../model.ts";
import type { Database, Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export type RetryResult =
  | { readonly kind: "owed"; readonly endpointId: Uuid; readonly owner: number | null }
  | { readonly kind: "in_flight" }
  | { readonly kind: "not_found" };

/** Pending at once, no next retry, a fresh budget of attempts. */
export async function oweAgain(db: Database, deliveryId: Uuid): Promise<RetryResult> {
  return await db.transaction(async (tx) => {
    const [place] = await tx.query<{ endpoint_id: Uuid }>(placeStatement, [deliveryId]);
    if (place === undefined) return { kind: "not_found" };
    const owner = await lockLane(tx, place.endpoint_id);
    const [moved] = await tx.query(requeueStatement, [deliveryId]);
    const [owed] = moved === undefined ? await tx.query(hastenStatement, [deliveryId]) : [moved];
    return owed === undefined
      ? { kind: "in_flight" }
      : { kind: "owed", endpointId: place.endpoint_id, owner };
  });
}

/** Stores an event that is meant for one endpoint alone, whatever that endpoint subscribes to. */
export async function oweEvent(
  db: Database,
  event: Event,
  delivery: { readonly id: Uuid; readonly endpointId: Uuid; readonly trigger: AttemptTrigger },
): Promise<{ readonly owner: number | null }> {
  return await db.transaction(async (tx) => {
    const owner = await lockLane(tx, delivery.endpointId);
    await tx.query(storeOneStatement, [
      event.id,
      event.tenant,
      event.type,
      event.apiVersion,
      event.payload,
      delivery.id,
      delivery.endpointId,
      delivery.trigger,
    ]);
    return { owner };
  });
}

// The lane first, then the row: a lane that is being released is computed from the rows committed before.
async function lockLane(tx: Queryable, endpointId: Uuid): Promise<number | null> {
  const [lane] = await tx.query<{ owner: number | null }>(lockLaneStatement, [endpointId]);
  return lane?.owner ?? null;
}

const placeStatement = statement(
  "place of delivery",
  `
select d.endpoint_id
from posthorn.delivery_states d
where d.id = $1::uuid
`,
);

const lockLaneStatement = statement(
  "lock lane",
  `
update posthorn.lanes
set ready_at = case when owner is null then least(ready_at, posthorn.now()) end
where endpoint_id = $1::uuid
returning owner
`,
);

const requeueStatement = statement(
  "requeue",
  `
with revived as (
  delete from posthorn.deliveries
  where id = $1::uuid
  returning id, event_id, endpoint_id, attempts, replay_count
)
insert into posthorn.queue (id, event_id, endpoint_id, next_at, owed_since, attempts, replay_count, trigger)
select id, event_id, endpoint_id, posthorn.now(), posthorn.now(), attempts, replay_count, 'manual'
from revived
returning id
`,
);

const hastenStatement = statement(
  "hasten",
  `
update posthorn.queue
set next_at = posthorn.now(),
  owed_since = posthorn.now(),
  failures = 0,
  trigger = 'manual'
where id = $1::uuid
  and claimed_by is null
returning id
`,
);

const storeOneStatement = statement(
  "store one",
  `
with stored as (
  insert into posthorn.events (id, tenant, type, api_version, payload)
  values ($1::uuid, $2::text, $3::text, $4::text, $5::bytea)
)
insert into posthorn.queue (id, event_id, endpoint_id, next_at, owed_since, trigger)
values ($6::uuid, $1::uuid, $7::uuid, posthorn.now(), posthorn.now(), $8::text)
`,
);
