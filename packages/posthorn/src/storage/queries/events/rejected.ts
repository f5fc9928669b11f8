// Events that the catalogue rejected after they were committed: from the outbox into rejected_events, and back when a
// person releases them.
import type { Rejection, Uuid } from "../../../model.ts";
import { textArray, uuidArray } from "../../binary-array.ts";
import { arrays, column, rows, value } from "../../query.ts";

/**
 * Returns the ids of those that were still in the outbox. Those that the relay read as unchecked may be checked by now: another
 * worker has rejected them, and a person has released them.
 */
export const rejectEvents = column<Uuid, [rejections: readonly Rejection[], isChecked: boolean]>(
  "reject events",
  (rejections, isChecked) => [
    ...arrays(rejections, {
      eventId: uuidArray,
      code: textArray,
      pointer: reasonArray,
      message: reasonArray,
    }),
    isChecked,
  ],
)`
with waiting as materialized (
  select o.event_id
  from posthorn.outbox o
  where o.event_id = any ($1::uuid[])
    and o.is_checked = $5::boolean
  for update skip locked
),
taken as (
  delete from posthorn.outbox o
  where o.event_id = any (array(select waiting.event_id from waiting))
  returning o.event_id, o.tenant
)
insert into posthorn.rejected_events (event_id, tenant, code, pointer, message)
select taken.event_id, taken.tenant, given.code, given.pointer, given.message
from taken
join unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as given (event_id, code, pointer, message)
  on given.event_id = taken.event_id
returning event_id
`;

/** Longer pointers and messages are cut. */
const MAX_REASON_LENGTH = 1_000;

/** Reasons contain the names of the event's members, which may have any length, and U+0000, which PostgreSQL does not store. */
function reasonArray(reasons: readonly string[]): Buffer {
  return textArray(
    reasons.map((reason) => reason.slice(0, MAX_REASON_LENGTH).replaceAll("\u0000", "\ufffd")),
  );
}

export interface RejectionRow extends Rejection {
  readonly rejectedMs: number;
  /** Null: a person has to decide. */
  readonly discardedMs: number | null;
}

/** Returns the rejections of those of these events that have one. */
export const rejectionsOf = rows<RejectionRow, [eventIds: readonly Uuid[]]>("rejections of events", (ids) => [
  uuidArray(ids),
])`
select r.event_id as "eventId", r.code, r.pointer, r.message, posthorn.epoch_ms(r.rejected_at) as "rejectedMs",
  posthorn.epoch_ms(r.discarded_at) as "discardedMs"
from posthorn.rejected_events r
where r.event_id = any ($1::uuid[])
`;

/** Puts the events into the outbox again, as checked. Returns how many of them were rejected. */
export const releaseRejected = value<number, [eventIds: readonly Uuid[], evenDiscarded: boolean]>(
  "release rejected events",
  (ids, evenDiscarded) => [uuidArray(ids), evenDiscarded],
)`
with released as (
  delete from posthorn.rejected_events r
  where r.event_id = any ($1::uuid[])
    and ($2::boolean or r.discarded_at is null)
  returning r.event_id
),
stored as (
  insert into posthorn.outbox (event_id, tenant, subject, sequence)
  select e.id, e.tenant, e.subject, e.sequence
  from released
  join posthorn.events e on e.id = released.event_id
  order by e.id
  returning event_id
)
select count(*)::integer as count
from stored
`;

/** Returns how many of them were rejected and not discarded before. */
export const discardRejected = value<number, [eventIds: readonly Uuid[]]>(
  "discard rejected events",
  (ids) => [uuidArray(ids)],
)`
with discarded as (
  update posthorn.rejected_events r
  set discarded_at = posthorn.now()
  where r.event_id = any ($1::uuid[])
    and r.discarded_at is null
  returning r.event_id
)
select count(*)::integer as count
from discarded
`;
