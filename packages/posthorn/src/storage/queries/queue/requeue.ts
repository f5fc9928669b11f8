// Enqueues one delivery: a manual retry of anything not in flight, or a test event. Nothing is enqueued for an endpoint
// that may not receive it: the delivery would wait forever, or become dead and remove an earlier success from history.
import type { AttemptTrigger, Event, Uuid } from "../../../model.ts";
import type { Database, Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export type EnqueueResult =
  | {
      readonly kind: "queued";
      readonly endpointId: Uuid;
      readonly owner: number | null;
      readonly isProbe: boolean;
    }
  | ClosedLane;

/** The lane is paused; nothing was changed. */
export interface ClosedLane {
  readonly kind: "closed";
  readonly because: "endpoint_deleted" | "endpoint_disabled" | "endpoint_not_agreed" | "tenant_inactive";
}

export type RetryResult = EnqueueResult | { readonly kind: "in_flight" } | { readonly kind: "not_found" };

/** Makes it due now, with a new retry schedule. */
export async function requeueDelivery(db: Database, deliveryId: Uuid): Promise<RetryResult> {
  return await db.transaction(async (tx) => {
    const [delivery] = await tx.query<{ endpoint_id: Uuid }>(endpointStatement, [deliveryId]);
    if (delivery === undefined) return { kind: "not_found" };
    const lane = await lockLane(tx, delivery.endpoint_id);
    if (lane.kind === "closed") return lane;
    const [moved] = await tx.query(requeueStatement, [deliveryId]);
    const [queued] = moved === undefined ? await tx.query(makeDueStatement, [deliveryId]) : [moved];
    if (queued === undefined) return { kind: "in_flight" };
    const probes = await tx.query(makeProbeDueStatement, [deliveryId, delivery.endpoint_id]);
    return { ...lane, isProbe: probes.length > 0 };
  });
}

/** Stores an event for one endpoint, whatever it subscribes to. It has no sequence. */
export async function enqueueTestEvent(
  db: Database,
  event: Event,
  delivery: { readonly id: Uuid; readonly endpointId: Uuid; readonly trigger: AttemptTrigger },
): Promise<EnqueueResult> {
  return await db.transaction(async (tx) => {
    const lane = await lockLane(tx, delivery.endpointId);
    if (lane.kind === "closed") return lane;
    await tx.query(storeOneStatement, [
      event.id,
      event.tenant,
      event.type,
      event.apiVersion,
      event.subject,
      event.payload,
      delivery.id,
      delivery.endpointId,
      delivery.trigger,
    ]);
    return lane;
  });
}

// Locks the lane before the row: releasing a lane reads the rows committed before. The lock also makes `paused` final,
// because disabling or deleting the endpoint sets it under the same lock.
async function lockLane(tx: Queryable, endpointId: Uuid): Promise<EnqueueResult> {
  const [lane] = await tx.query<{ owner: number | null; paused: boolean }>(lockLaneStatement, [endpointId]);
  if (lane?.paused === false) return { kind: "queued", endpointId, owner: lane.owner, isProbe: false };
  const [closed] = await tx.query<Pick<ClosedLane, "because">>(whyClosedStatement, [endpointId]);
  // without a row, the endpoint was deleted together with its tenant
  return { kind: "closed", because: closed?.because ?? "endpoint_deleted" };
}

const endpointStatement = statement(
  "endpoint of delivery",
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
set ready_at = case
    when paused or owner is not null then ready_at
    else least(ready_at, posthorn.now())
  end
where endpoint_id = $1::uuid
returning owner, paused
`,
);

/** Whether the endpoint `ep` has not agreed to receive webhooks. */
export const hasNoGrant = `exists (
      select
      from posthorn.endpoint_handshakes h
      where h.endpoint_id = ep.id
        and h.state <> 'granted'
    )`;

const whyClosedStatement = statement(
  "why lane is paused",
  `
select
  case
    when ep.deleted_at is not null then 'endpoint_deleted'
    when not ep.is_active then 'endpoint_disabled'
    when ${hasNoGrant} then 'endpoint_not_agreed'
    else 'tenant_inactive'
  end as because
from posthorn.endpoints ep
where ep.id = $1::uuid
`,
);

const requeueStatement = statement(
  "requeue",
  `
with revived as (
  delete from posthorn.deliveries d
  where d.id = $1::uuid
  returning d.id, d.event_id, d.endpoint_id, d.attempts, d.replay_count
),
-- its sequence puts it first if the endpoint is ordered now
ordered_delivery as materialized (
  select revived.*, ordered.subject, ordered.sequence
  from revived
  left join lateral (
    select e.subject, e.sequence
    from posthorn.events e
    join posthorn.endpoints ep on ep.id = revived.endpoint_id
    where e.id = revived.event_id
      and e.sequence is not null
      and ep.ordering = 'fifo'
  ) ordered on true
),
released as (
  delete from posthorn.held_subjects h
  using ordered_delivery
  where h.endpoint_id = ordered_delivery.endpoint_id
    and h.subject = ordered_delivery.subject
    and h.sequence = ordered_delivery.sequence
)
insert into posthorn.queue (
  id, event_id, endpoint_id, next_at, schedule_started_at, attempts, replay_count, trigger, subject, sequence
)
select id, event_id, endpoint_id, posthorn.now(), posthorn.now(), attempts, replay_count, 'manual', subject, sequence
from ordered_delivery
returning id
`,
);

const makeDueStatement = statement(
  "make due",
  `
update posthorn.queue
set next_at = posthorn.now(),
  schedule_started_at = posthorn.now(),
  failures = 0,
  trigger = 'manual'
where id = $1::uuid
  and claimed_by is null
returning id
`,
);

// A manual retry shows its result at once: if the circuit is open, it is the probe, before all other deliveries. A
// pause requested by the receiver (throttled_until) stays.
const makeProbeDueStatement = statement(
  "make probe due",
  `
with made_due as (
  update posthorn.endpoint_health h
  set probe_at = posthorn.now()
  where h.endpoint_id = $2::uuid
    and h.probe_at > posthorn.now()
  returning h.endpoint_id
)
update posthorn.queue q
set next_at = least(
  posthorn.now(),
  (
    select min(other.next_at) - interval '1 millisecond'
    from posthorn.queue other
    where other.endpoint_id = $2::uuid
      and other.claimed_by is null
  )
)
from made_due
where q.id = $1::uuid
returning q.id
`,
);

const storeOneStatement = statement(
  "store test event",
  `
with stored as (
  insert into posthorn.events (id, tenant, type, api_version, subject, payload, is_test)
  values ($1::uuid, $2::text, $3::text, $4::text, $5::text, $6::bytea, true)
)
insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, trigger)
values ($7::uuid, $1::uuid, $8::uuid, posthorn.now(), posthorn.now(), $9::text)
`,
);
