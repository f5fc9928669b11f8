// Records the outcomes of attempts, many in one statement. The fence is `claimed_by = me`: a reaped worker settles
// nothing, and its attempts stay recorded as unknown.
import type { Decision, Settlement, Uuid } from "../../../model.ts";
import { byteaArray, float8Array, int2Array, int4Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { type Statement, statement } from "../../sql.ts";

/** Returns the ids that were refused, because they belong to another worker now. */
export async function settle(
  db: Queryable,
  workerId: number,
  settlements: readonly Settlement[],
): Promise<ReadonlySet<Uuid>> {
  const first = settlements.filter(isFirstSuccess);
  const values = [workerId, ...firstSuccessValues(first)];
  const refused =
    first.length === settlements.length
      ? await refusedOf(db, settleFirst, values)
      : await settleOthers(
          db,
          values,
          settlements.filter((settlement) => !isFirstSuccess(settlement)),
        );
  return new Set(refused);
}

/** Returns true if the attempt is stored in the row of `posthorn.deliveries`. */
export function isFirstSuccess({ delivery, outcome, decision }: Settlement): boolean {
  return (
    decision.kind === "delivered" &&
    delivery.attempts === 0 &&
    delivery.trigger === "event" &&
    outcome.kind === "responded"
  );
}

/** The columns that first successes and other attempts have in common. */
function attemptValues(settlements: readonly Settlement[]): Buffer[] {
  return [
    uuidArray(settlements.map(({ delivery }) => delivery.id)),
    float8Array(settlements.map(({ startedAt }) => startedAt.getTime())),
    int4Array(settlements.map(({ outcome }) => Math.round(outcome.durationMs))),
    int2Array(settlements.map(({ outcome }) => (outcome.kind === "responded" ? outcome.statusCode : null))),
    byteaArray(settlements.map(({ outcome }) => responseBody(outcome))),
    int4Array(settlements.map(({ outcome }) => outcome.phases.connectMs)),
    int4Array(settlements.map(({ outcome }) => outcome.phases.tlsMs)),
    int4Array(settlements.map(({ outcome }) => outcome.phases.firstByteMs)),
  ];
}

/** The ten values of `firstSuccessSteps`. */
export function firstSuccessValues(settlements: readonly Settlement[]): Buffer[] {
  return [
    ...attemptValues(settlements),
    uuidArray(settlements.map(({ delivery }) => delivery.event.id)),
    uuidArray(settlements.map(({ delivery }) => delivery.endpointId)),
  ];
}

async function settleOthers(
  db: Queryable,
  firstValues: readonly unknown[],
  others: readonly Settlement[],
): Promise<readonly Uuid[]> {
  const delivered = others.filter(({ decision }) => decision.kind === "delivered");
  const dead = sortedById(others, "dead");
  const retries = sortedById(others, "retry");
  // looking for subjects to hold takes 0.07 ms, which unordered endpoints do not pay
  const mayHold = dead.some(({ delivery }) => delivery.isOrdered);
  return await refusedOf(db, mayHold ? settleAndHold : settleAny, [
    ...firstValues,
    uuidArray(delivered.map(({ delivery }) => delivery.id)),
    uuidArray(dead.map(({ delivery }) => delivery.id)),
    textArray(dead.map(({ decision }) => decision.reason)),
    uuidArray(retries.map(({ delivery }) => delivery.id)),
    float8Array(retries.map(({ decision }) => decision.delayMs)),
    int4Array(retries.map(({ decision }) => (decision.isFailure ? 1 : 0))),
    int4Array(retries.map(({ delivery }) => delivery.attempts)),
    ...attemptValues(others),
    int4Array(others.map(({ delivery }) => delivery.attempts + 1)),
    textArray(others.map(({ outcome }) => (outcome.kind === "failed" ? outcome.error : null))),
    float8Array(others.map(({ decision }) => (decision.kind === "retry" ? decision.delayMs : null))),
    textArray(others.map(({ delivery }) => delivery.trigger)),
  ]);
}

async function refusedOf(
  db: Queryable,
  text: Statement,
  values: readonly unknown[],
): Promise<readonly Uuid[]> {
  const [row] = await db.query<{ refused: Uuid[] | null }>(text, values);
  return row?.refused ?? [];
}

type Decided<Kind extends Decision["kind"]> = Settlement & {
  readonly decision: Extract<Decision, { kind: Kind }>;
};

/** Sorted by id, for the binary search in the statement. */
function sortedById<Kind extends Decision["kind"]>(
  settlements: readonly Settlement[],
  kind: Kind,
): Decided<Kind>[] {
  return settlements
    .filter((settlement): settlement is Decided<Kind> => settlement.decision.kind === kind)
    .sort((a, b) => (a.delivery.id < b.delivery.id ? -1 : 1));
}

/** Returns the response body, or the error if there was no response. */
function responseBody(outcome: Settlement["outcome"]): Uint8Array | null {
  if (outcome.kind === "failed") return Buffer.from(outcome.detail);
  return outcome.responseBody.byteLength === 0 ? null : outcome.responseBody;
}

// No joins: a generic plan expects `claimed_by = me` to match one row and uses a nested loop, and 500 rows take 120 ms
// instead of 10. Rows are found by "= any", per-row values by width_bucket (a binary search in the sorted ids), and "(…
// in (select …)) is true" is a hashed lookup that the planner does not turn into a join.

/**
 * Hides the number of ids from the planner, which then assumes ten. Otherwise it would plan batches of fewer than ten anew
 * every time, because their plans look cheaper than the generic one: 0.5 ms of planning for 1.5 ms of work.
 */
const anyOf = (parameter: string): string => `any (array(select unnest(${parameter}::uuid[])))`;

/**
 * Parameters: 1 worker; from `first` on eight of the attempts, their events and endpoints. Only rows without an attempt
 * are deleted: if the statement is repeated after a lost reply, this worker may already have claimed the row for a manual
 * retry.
 */
export function firstSuccessSteps(first: number): string {
  const parameter = (index: number, type: string): string => `$${first + index}::${type}[]`;
  return `
succeeded as (
  delete from posthorn.queue q
  where q.id = ${anyOf(`$${first}`)}
    and q.claimed_by = $1::integer
    and q.attempts = 0
  returning q.id
),
first_history as (
  insert into posthorn.deliveries (
    id, event_id, endpoint_id, finished_at, started_at, attempts, replay_count, worker, duration_ms, connect_ms, tls_ms,
    first_byte_ms, status_code, state, response_body
  )
  select attempt.id, attempt.event_id, attempt.endpoint_id, posthorn.now(), to_timestamp(attempt.started_ms / 1000), 1, 0,
    $1::integer, attempt.duration_ms, attempt.connect_ms, attempt.tls_ms, attempt.first_byte_ms, attempt.status_code, 'success',
    attempt.response_body
  from unnest(
    ${parameter(0, "uuid")}, ${parameter(1, "double precision")}, ${parameter(2, "integer")}, ${parameter(3, "smallint")},
    ${parameter(4, "bytea")}, ${parameter(5, "integer")}, ${parameter(6, "integer")}, ${parameter(7, "integer")},
    ${parameter(8, "uuid")}, ${parameter(9, "uuid")}
  ) as attempt (
    id, started_ms, duration_ms, status_code, response_body, connect_ms, tls_ms, first_byte_ms, event_id, endpoint_id
  )
  where (attempt.id in (select id from succeeded)) is true
)`;
}

/** The ids that were not settled, null if all were. The ids are compared only if one is missing. */
export const refusedColumn = (first: number): string => `
  case
    when (select count(*) from succeeded) < cardinality($${first}::uuid[])
    then (
      select json_agg(attempt.id)
      from unnest($${first}::uuid[]) as attempt (id)
      where (attempt.id in (select id from succeeded)) is not true
    )
  end as refused`;

const settleFirst = statement("settle first")`
with ${firstSuccessSteps(2)}
select ${refusedColumn(2)}
`;

// Parameters after those of the first successes: 12 delivered · 13–14 dead · 15–18 retries · 19–26 attempts · 27–30 their
// numbers, errors, delays and triggers.
const settleText = (holdStep: string): string => `
with ${firstSuccessSteps(2)},
delivered as (
  delete from posthorn.queue q
  where q.id = ${anyOf("$12")}
    and q.claimed_by = $1::integer
  returning q.id, q.event_id, q.endpoint_id, q.attempts + 1 as attempts, q.replay_count
),
died as (
  delete from posthorn.queue q
  where q.id = ${anyOf("$13")}
    and q.claimed_by = $1::integer
  returning q.id, q.event_id, q.endpoint_id, q.attempts + 1 as attempts, q.replay_count, q.subject, q.sequence
),
${holdStep}
postponed as (
  update posthorn.queue q
  set claimed_by = null,
    attempts = q.attempts + 1,
    failures = q.failures + ($17::integer[])[width_bucket(q.id, $15::uuid[])],
    next_at = posthorn.now()
      + ($16::double precision[])[width_bucket(q.id, $15::uuid[])] * interval '1 millisecond',
    trigger = 'retry'
  where q.id = ${anyOf("$15")}
    and q.claimed_by = $1::integer
    -- when sent again after a lost reply, this worker may already have claimed the row for the next attempt
    and q.attempts = ($18::integer[])[width_bucket(q.id, $15::uuid[])]
  returning q.id
),
history as (
  insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
  select id, event_id, endpoint_id, 'success', null, attempts, replay_count, posthorn.now()
  from delivered
  union all
  select id, event_id, endpoint_id, 'dead', ($14::text[])[width_bucket(id, $13::uuid[])], attempts, replay_count,
    posthorn.now()
  from died
),
settled as materialized (
  select id from succeeded
  union all
  select id from delivered
  union all
  select id from died
  union all
  select id from postponed
),
recorded as (
  insert into posthorn.attempt_log (
    delivery_id, number, started_at, duration_ms, status_code, error, response_body, next_retry_at, trigger, worker,
    connect_ms, tls_ms, first_byte_ms
  )
  select attempt.id, attempt.number, to_timestamp(attempt.started_ms / 1000), attempt.duration_ms, attempt.status_code, attempt.error,
    attempt.response_body, posthorn.now() + attempt.delay_ms * interval '1 millisecond', attempt.trigger, $1::integer,
    attempt.connect_ms, attempt.tls_ms, attempt.first_byte_ms
  from unnest(
    $19::uuid[], $20::double precision[], $21::integer[], $22::smallint[], $23::bytea[], $24::integer[], $25::integer[],
    $26::integer[], $27::integer[], $28::text[], $29::double precision[], $30::text[]
  ) as attempt (
    id, started_ms, duration_ms, status_code, response_body, connect_ms, tls_ms, first_byte_ms, number, error, delay_ms,
    trigger
  )
  where (attempt.id in (select id from settled)) is true
)
select json_agg(attempt.id) as refused
from unnest($2::uuid[] || $19::uuid[]) as attempt (id)
where (attempt.id in (select id from settled)) is not true
`;

// Locks the endpoint. Otherwise a subject could stay held after `fifo_on_dead` was set to `pass`.
const holdStep = `
held as (
  insert into posthorn.held_subjects (endpoint_id, subject, sequence, delivery_id)
  select died.endpoint_id, died.subject, died.sequence, died.id
  from died
  cross join lateral (
    select
    from posthorn.endpoints ep
    where ep.id = died.endpoint_id
      and ep.ordering = 'fifo'
      and ep.fifo_on_dead = 'hold'
      and ep.deleted_at is null
    for share
  ) holding
  where died.subject is not null
),`;

const settleAny = statement("settle")`${settleText("")}`;
const settleAndHold = statement("settle and hold")`${settleText(holdStep)}`;
