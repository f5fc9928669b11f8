// Enqueues one delivery: a manual retry of a delivery that is not in flight, or that of a test or edited event. Nothing is
// enqueued for an endpoint that may not receive it: the delivery would wait forever, or become dead and remove an earlier
// success from history.
import type { AttemptTrigger, Event, Uuid } from "../../../model.ts";
import type { Database, Queryable } from "../../database.ts";
import { fields, hasRow, run, value } from "../../query.ts";
import { firstAttempt, moveFirstAttemptStep } from "../deliveries/first-attempt.ts";
import { isOrdered } from "../endpoints/ordering.ts";
import { lockLane, type PausedReason } from "../lanes/lock.ts";

export type EnqueueResult =
  | {
      readonly kind: "queued";
      readonly endpointId: Uuid;
      readonly owner: number | null;
      readonly isProbe: boolean;
    }
  /** Nothing was changed. */
  | { readonly kind: "paused"; readonly because: PausedReason };

export type RetryResult = EnqueueResult | { readonly kind: "in_flight" } | { readonly kind: "not_found" };

/** Makes it due now, with a new retry schedule. */
export async function requeueDelivery(db: Database, deliveryId: Uuid): Promise<RetryResult> {
  return await db.transaction(async (tx) => {
    const endpointId = await endpointOf(tx, deliveryId);
    if (endpointId === null) return { kind: "not_found" };
    const { owner, because } = await lockTarget(tx, endpointId);
    if (because !== null) return { kind: "paused", because };
    if (!(await requeue(tx, deliveryId)) && !(await makeDue(tx, deliveryId))) return { kind: "in_flight" };
    return { kind: "queued", endpointId, owner, isProbe: await makeProbeDue(tx, deliveryId, endpointId) };
  });
}

/** Stores an event for one endpoint, whatever it subscribes to. It has no sequence. */
export async function enqueueForOne(
  db: Database,
  event: Event,
  delivery: OneDelivery,
): Promise<EnqueueResult> {
  return await db.transaction(async (tx) => {
    const { endpointId } = delivery;
    const { owner, because } = await lockTarget(tx, endpointId);
    if (because !== null) return { kind: "paused", because };
    await storeOne(tx, event, delivery);
    return { kind: "queued", endpointId, owner, isProbe: false };
  });
}

interface OneDelivery {
  readonly id: Uuid;
  readonly endpointId: Uuid;
  readonly trigger: AttemptTrigger;
}

/** Locks the lane. Without a row, the endpoint was deleted together with its tenant. */
async function lockTarget(tx: Queryable, endpointId: Uuid) {
  const { owner, pausedReason } = (await lockLane(tx, endpointId)) ?? DELETED;
  return { owner, because: pausedReason };
}

const DELETED = { owner: null, pausedReason: "endpoint_deleted" } as const;

const endpointOf = value<Uuid | null, [deliveryId: Uuid]>("endpoint of delivery")`
select d.endpoint_id
from posthorn.delivery_states_of(array[$1::uuid]) d
`;

const requeue = hasRow<[deliveryId: Uuid]>("requeue")`
with revived as (
  delete from posthorn.deliveries d
  where d.id = $1::uuid
  returning d.id, d.event_id, d.endpoint_id, d.attempts, d.replay_count, ${firstAttempt}
),
${moveFirstAttemptStep},
-- its sequence puts it first if the endpoint is ordered now
ordered_delivery as materialized (
  select revived.*, ordered.subject, ordered.sequence
  from revived
  left join lateral (
    select e.subject, e.sequence
    from posthorn.events e
    join posthorn.endpoints ep on ep.id = revived.endpoint_id
    cross join posthorn.endpoint_defaults defaults
    where e.id = revived.event_id
      and e.sequence is not null
      and ${isOrdered}
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
`;

const makeDue = hasRow<[deliveryId: Uuid]>("make due")`
update posthorn.queue
set next_at = posthorn.now(),
  schedule_started_at = posthorn.now(),
  failures = 0,
  trigger = 'manual'
where id = $1::uuid
  and claimed_by is null
returning id
`;

// A manual retry shows its result at once: if the circuit is open, it is the probe, before all other deliveries. A
// pause requested by the receiver (throttled_until) stays.
const makeProbeDue = hasRow<[deliveryId: Uuid, endpointId: Uuid]>("make probe due")`
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
`;

const storeOne = run<[event: Event, delivery: OneDelivery]>(
  "store event for one endpoint",
  (event, delivery) => [
    ...fields("id", "tenant", "type", "apiVersion", "subject", "payload")(event),
    ...fields("id", "endpointId", "trigger")(delivery),
    event.attributes === undefined ? null : JSON.stringify(event.attributes),
    event.editedFrom ?? null,
  ],
)`
with stored as (
  insert into posthorn.events (id, tenant, type, api_version, subject, payload, is_test, attributes, edited_from)
  values ($1::uuid, $2::text, $3::text, $4::text, $5::text, $6::bytea, true, $10::text::jsonb, $11::uuid)
)
insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, trigger)
values ($7::uuid, $1::uuid, $8::uuid, posthorn.now(), posthorn.now(), $9::text)
`;
