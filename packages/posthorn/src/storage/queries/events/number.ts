// Reserves idempotency keys and assigns sequences, and holds both until the transaction ends. The rest of the
// transaction sees everything numbered before.
import type { Uuid } from "../../../model.ts";
import { byteaArray, int8Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { durableCommit, statement } from "../../sql.ts";

export interface IdempotencyKey {
  readonly tenant: string;
  readonly key: string;
  readonly eventId: Uuid;
  readonly digest: Uint8Array;
}

/** An event with a subject. `sequence` is null until it is numbered. */
export interface SubjectEvent {
  readonly eventId: Uuid;
  readonly tenant: string;
  readonly subject: string;
  readonly sequence: number | null;
}

export interface Numbered {
  /** Events whose idempotency keys are known. */
  readonly refusedEventIds: readonly Uuid[];
  /** One per event, 0 for a refused one. */
  readonly sequences: readonly number[];
}

export async function numberEvents(
  tx: Queryable,
  keys: readonly IdempotencyKey[],
  events: readonly SubjectEvent[],
): Promise<Numbered> {
  const [row] = await tx.query<NumberedRow>(numberStatement, [
    ...keyValues(keys),
    ...subjectEventValues(events),
  ]);
  return { refusedEventIds: row?.refused ?? [], sequences: row?.sequences ?? [] };
}

export interface NumberedRow {
  refused: Uuid[] | null;
  sequences: number[] | null;
}

/** Sorted, so that batches do not deadlock on keys. */
export function keyValues(keys: readonly IdempotencyKey[]): unknown[] {
  const sorted = keys.toSorted((a, b) => compare(a.tenant, b.tenant) || compare(a.key, b.key));
  return [
    textArray(sorted.map((key) => key.tenant)),
    textArray(sorted.map((key) => key.key)),
    uuidArray(sorted.map((key) => key.eventId)),
    byteaArray(sorted.map((key) => key.digest)),
  ];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export function subjectEventValues(events: readonly SubjectEvent[]): unknown[] {
  return [
    uuidArray(events.map((event) => event.eventId)),
    textArray(events.map((event) => event.tenant)),
    textArray(events.map((event) => event.subject)),
    int8Array(events.map((event) => event.sequence ?? 0)),
  ];
}

/**
 * A caller's transaction may hold a key or a subject. After a short wait the batch is split. The commit is durable,
 * because it acknowledges the events.
 */
export const lockTimeoutStep = `
patience as materialized (
  select set_config('lock_timeout', '200', true), ${durableCommit}
)`;

/** Reserves the keys at the parameters from `first` on; needs `gate`. */
export const reserveStep = (first: number) => `
reserved as (
  insert into posthorn.idempotency_keys (tenant, key, event_id, digest)
  select k.tenant, k.key, k.event_id, k.digest
  from gate, unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::uuid[], $${first + 3}::bytea[])
    as k (tenant, key, event_id, digest)
  on conflict do nothing
  returning event_id
)`;

/**
 * `listed` and `numbers` of the events at the parameters from `first` on. Needs `gate` and `refused`, on which it waits:
 * keys before subjects, so that a duplicate uses no number. "On conflict do update" continues from the newest number
 * even if the snapshot does not see it. Numbers refer to events by array position: a join of two lists is quadratic in a
 * generic plan.
 */
export const numberSteps = (first: number) => `
listed as materialized (
  select l.event_id, l.tenant, l.subject, l.sequence, l.place, l.is_new,
    dense_rank() over (partition by l.is_new order by l.tenant, l.subject) as subject_place,
    row_number() over (partition by l.is_new, l.tenant, l.subject order by l.place) as nth,
    count(*) over (partition by l.is_new, l.tenant, l.subject) as of_subject
  from (
    select given.*, given.sequence = 0 and (given.event_id in (select event_id from refused)) is not true as is_new
    from gate, unnest($${first}::uuid[], $${first + 1}::text[], $${first + 2}::text[], $${first + 3}::bigint[])
      with ordinality as given (event_id, tenant, subject, sequence, place)
  ) l
),
raised as (
  insert into posthorn.subjects as s (tenant, subject, last_sequence)
  select l.tenant, l.subject, l.of_subject
  from listed l
  where l.is_new
    and l.nth = 1
  order by l.tenant, l.subject
  on conflict (tenant, subject) do update
  set last_sequence = s.last_sequence + excluded.last_sequence
  returning s.tenant, s.subject, s.last_sequence
),
newest as materialized (
  select array_agg(r.last_sequence order by r.tenant, r.subject) as sequences
  from raised r
),
numbers as materialized (
  select array_agg(
      case when l.is_new then newest.sequences[l.subject_place] - l.of_subject + l.nth else l.sequence end
      order by l.place
    ) as sequences
  from listed l, newest
)`;

const numberStatement = statement("number events")`
with ${lockTimeoutStep},
gate as materialized (
  select
  from patience
),
${reserveStep(1)},
refused as materialized (
  select unnest($3::uuid[]) as event_id
  except
  select event_id from reserved
),
${numberSteps(5)}
select
  (select json_agg(event_id) from refused) as refused,
  array_to_json(numbers.sequences) as sequences
from numbers
`;
