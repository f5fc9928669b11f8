// Enqueues the deliveries of a replay step: finished or failed ones again, and missing ones for the first time. Like a
// manual retry (requeue.ts), except for the trigger and the replay count.
import type { Uuid } from "../../../model.ts";
import { int8Array, textArray, uuidArray } from "../../binary-array.ts";
import { arrays, value } from "../../query.ts";
import { firstAttempt, moveFirstAttemptStep } from "../deliveries/first-attempt.ts";
import { recordQueuedSteps } from "../replays/outcomes.ts";

/** A finished delivery. The sequence puts it before later ones if the endpoint is ordered now; otherwise null. */
export interface EndedDelivery {
  readonly id: Uuid;
  readonly subject: string | null;
  readonly sequence: number | null;
}

export interface AgainOptions {
  readonly replayId: Uuid;
  /** Sorted by id, for the binary search in the statement. */
  readonly ended: readonly EndedDelivery[];
  readonly failed: readonly Uuid[];
  /** Deliveries that ended later were sent again by someone else. */
  readonly endedByMs: number;
}

/** Returns how many were enqueued; the others are in flight or have ended again since. */
export const requeueMany = value<number, [AgainOptions]>(
  "requeue many",
  ({ replayId, ended, failed, endedByMs }) => [
    uuidArray(ended.map(({ id }) => id)),
    failed,
    endedByMs,
    ...arrays(ended, { subject: textArray, sequence: int8Array }),
    replayId,
  ],
)`
with revived as (
  delete from posthorn.deliveries d
  where d.id = any ($1::uuid[])
    and d.finished_at <= to_timestamp($3::double precision / 1000)
  returning d.id, d.event_id, d.endpoint_id, d.attempts, d.replay_count, ${firstAttempt},
    ($4::text[])[width_bucket(d.id, $1::uuid[])] as subject,
    ($5::bigint[])[width_bucket(d.id, $1::uuid[])] as sequence
),
${moveFirstAttemptStep},
released as (
  delete from posthorn.held_subjects h
  where h.delivery_id = any (array(select revived.id from revived where revived.sequence is not null))
    and h.endpoint_id = any (array(select revived.endpoint_id from revived where revived.sequence is not null))
),
requeued as (
  insert into posthorn.queue (
    id, event_id, endpoint_id, next_at, schedule_started_at, attempts, replay_count, trigger, subject, sequence
  )
  select r.id, r.event_id, r.endpoint_id, posthorn.now(), posthorn.now(), r.attempts, r.replay_count + 1, 'replay',
    r.subject, r.sequence
  from revived r
  returning id
),
made_due as (
  update posthorn.queue q
  set next_at = posthorn.now(),
    schedule_started_at = posthorn.now(),
    failures = 0,
    replay_count = q.replay_count + 1,
    trigger = 'replay'
  where q.id = any ($2::uuid[])
    and q.claimed_by is null
    and (q.failures > 0 or posthorn.is_deferred(q.attempts, q.next_at))
  returning q.id
),
queued_again as (
  select requeued.id from requeued
  union all
  select made_due.id from made_due
),${recordQueuedSteps("$6")}
select count(*)::integer as count
from queued_again
`;

export interface MissingDelivery {
  readonly id: Uuid;
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  /** Null: not delivered in order. */
  readonly subject: string | null;
  readonly sequence: number | null;
}

/** Returns how many were missing. */
// A deleted dead letter may have attempts; numbering continues from there.
export const enqueueMissing = value<number, [replayId: Uuid, missing: readonly MissingDelivery[]]>(
  "enqueue missing",
  (replayId, missing) => [
    ...arrays(missing, {
      id: uuidArray,
      eventId: uuidArray,
      endpointId: uuidArray,
      subject: textArray,
      sequence: int8Array,
    }),
    replayId,
  ],
)`
with queued_again as (
  insert into posthorn.queue (
    id, event_id, endpoint_id, next_at, schedule_started_at, attempts, replay_count, trigger, subject, sequence
  )
  select m.id, m.event_id, m.endpoint_id, posthorn.now(), posthorn.now(),
    coalesce((select max(a.number) from posthorn.attempt_log a where a.delivery_id = m.id), 0),
    1, 'replay', m.subject, m.sequence
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[])
    as m (id, event_id, endpoint_id, subject, sequence)
  where (m.id in (select d.id from posthorn.delivery_states_of($1::uuid[]) d)) is not true
  returning id
),${recordQueuedSteps("$6")}
select count(*)::integer as count
from queued_again
`;
