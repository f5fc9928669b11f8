// Records the outcomes of attempts, many in one statement. The fence is `claimed_by = me` or, for a delivery without a
// queue row, the worker's row: a reaped worker settles nothing, and its attempts stay recorded as unknown.
import type { Decision, Settlement, Uuid } from "../../../model.ts";
import {
  booleanArray,
  byteaArray,
  float8Array,
  int2Array,
  int4Array,
  textArray,
  uuidArray,
} from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { durableCommit, type Statement, statement } from "../../sql.ts";
import { holdsSubjects } from "../endpoints/ordering.ts";
import { addQueueRows } from "./event-claims.ts";

/** Returns the ids that were refused, because they belong to another worker now. */
export async function settle(
  db: Queryable,
  workerId: number,
  settlements: readonly Settlement[],
  { reportsDead = false }: { readonly reportsDead?: boolean } = {},
): Promise<ReadonlySet<Uuid>> {
  const claimed = settlements.map(({ delivery }) => delivery).filter(({ claimBatch }) => claimBatch !== null);
  if (claimed.length > 0) await addQueueRows(db, workerId, claimed);
  const first = settlements.filter(isFirstSuccess);
  const values = [workerId, ...firstSuccessValues(first), booleanArray(first.map(() => true))];
  const refused =
    first.length === settlements.length
      ? await refusedOf(db, settleFirst, values)
      : await settleOthers(
          db,
          values,
          settlements.filter((settlement) => !isFirstSuccess(settlement)),
          reportsDead,
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

/** The ten values of `firstSuccessSteps`; whether they have queue rows is the eleventh. */
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
  reportsDead: boolean,
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
    reportsDead,
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
 * Parameters: 1 worker; from `first` on eight of the attempts, their events and endpoints and, if some may have queue
 * rows, which of them. Only rows without an attempt are deleted: if the statement is repeated after a lost reply, this
 * worker may already have claimed the row for a manual retry. A delivery without a row is claimed by its event, as long
 * as the worker is registered and `claims_since` has not passed the event: a statement that arrives late must not settle
 * a delivery that got a row meanwhile. Its history must not be lost, because nothing else reveals that it was sent.
 */
export function firstSuccessSteps(first: number, { mayHaveRows }: { readonly mayHaveRows: boolean }): string {
  const parameter = (index: number, type: string): string => `$${first + index}::${type}[]`;
  const onlyWithRows = (text: string): string => (mayHaveRows ? text : "");
  return `
alive as materialized (
  select w.id, w.claims_since, ${durableCommit} as durable
  from posthorn.workers w
  where w.id = $1::integer
  for key share
),${onlyWithRows(`
succeeded as (
  delete from posthorn.queue q
  where q.id = any (array(
      select attempt.id
      from unnest(${parameter(0, "uuid")}, ${parameter(10, "boolean")}) as attempt (id, has_row)
      where attempt.has_row
    ))
    and q.claimed_by = $1::integer
    and q.attempts = 0
  returning q.id
),`)}
first_history as (
  insert into posthorn.deliveries (
    id, event_id, endpoint_id, finished_at, started_at, attempts, replay_count, worker, duration_ms, connect_ms, tls_ms,
    first_byte_ms, status_code, state, response_body
  )
  select attempt.id, attempt.event_id, attempt.endpoint_id, posthorn.now(), to_timestamp(attempt.started_ms / 1000), 1, 0,
    alive.id, attempt.duration_ms, attempt.connect_ms, attempt.tls_ms, attempt.first_byte_ms, attempt.status_code, 'success',
    attempt.response_body
  from alive
  cross join unnest(
    ${parameter(0, "uuid")}, ${parameter(1, "double precision")}, ${parameter(2, "integer")}, ${parameter(3, "smallint")},
    ${parameter(4, "bytea")}, ${parameter(5, "integer")}, ${parameter(6, "integer")}, ${parameter(7, "integer")},
    ${parameter(8, "uuid")}, ${parameter(9, "uuid")}${onlyWithRows(`, ${parameter(10, "boolean")}`)}
  ) as attempt (
    id, started_ms, duration_ms, status_code, response_body, connect_ms, tls_ms, first_byte_ms, event_id,
    endpoint_id${onlyWithRows(", has_row")}
  )
  where ${
    mayHaveRows
      ? `(attempt.id in (select id from succeeded)) is true
    or not attempt.has_row and `
      : ""
  }attempt.event_id >= alive.claims_since${onlyWithRows(`
  returning id`)}
)`;
}

/** The ids that were not settled, null if all were. The ids are compared only if one is missing. */
export const refusedColumn = (first: number): string => `
  case
    when (select count(*) from first_history) < cardinality($${first}::uuid[])
    then (
      select json_agg(attempt.id)
      from unnest($${first}::uuid[]) as attempt (id)
      where (attempt.id in (select id from first_history)) is not true
    )
  end as refused`;

const settleFirst = statement("settle first")`
with ${firstSuccessSteps(2, { mayHaveRows: true })}
select ${refusedColumn(2)}
`;

// Parameters after those of the first successes: 13 delivered · 14–15 dead · 16–19 retries · 20–27 attempts · 28–31 their
// numbers, errors, delays and triggers · 32 whether dead letters are reported.
const settleText = (holdStep: string): string => `
with ${firstSuccessSteps(2, { mayHaveRows: true })},
delivered as (
  delete from posthorn.queue q
  where q.id = ${anyOf("$13")}
    and q.claimed_by = $1::integer
  returning q.id, q.event_id, q.endpoint_id, q.attempts + 1 as attempts, q.replay_count
),
died as (
  delete from posthorn.queue q
  where q.id = ${anyOf("$14")}
    and q.claimed_by = $1::integer
  returning q.id, q.event_id, q.endpoint_id, q.attempts + 1 as attempts, q.replay_count, q.subject, q.sequence
),
${holdStep}
reported as (
  insert into posthorn.incidents (kind, endpoint_id, delivery_id, event_id, reason)
  select 'dead', endpoint_id, id, event_id, ($15::text[])[width_bucket(id, $14::uuid[])]
  from died
  where $32::boolean
),
postponed as (
  update posthorn.queue q
  set claimed_by = null,
    attempts = q.attempts + 1,
    failures = q.failures + ($18::integer[])[width_bucket(q.id, $16::uuid[])],
    next_at = posthorn.now()
      + ($17::double precision[])[width_bucket(q.id, $16::uuid[])] * interval '1 millisecond',
    trigger = 'retry'
  where q.id = ${anyOf("$16")}
    and q.claimed_by = $1::integer
    -- when sent again after a lost reply, this worker may already have claimed the row for the next attempt
    and q.attempts = ($19::integer[])[width_bucket(q.id, $16::uuid[])]
  returning q.id
),
history as (
  insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
  select id, event_id, endpoint_id, 'success', null, attempts, replay_count, posthorn.now()
  from delivered
  union all
  select id, event_id, endpoint_id, 'dead', ($15::text[])[width_bucket(id, $14::uuid[])], attempts, replay_count,
    posthorn.now()
  from died
),
settled as materialized (
  select id from first_history
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
    $20::uuid[], $21::double precision[], $22::integer[], $23::smallint[], $24::bytea[], $25::integer[], $26::integer[],
    $27::integer[], $28::integer[], $29::text[], $30::double precision[], $31::text[]
  ) as attempt (
    id, started_ms, duration_ms, status_code, response_body, connect_ms, tls_ms, first_byte_ms, number, error, delay_ms,
    trigger
  )
  where (attempt.id in (select id from settled)) is true
)
select json_agg(attempt.id) as refused
from unnest($2::uuid[] || $20::uuid[]) as attempt (id)
where (attempt.id in (select id from settled)) is not true
`;

// Locks the endpoint and the defaults. Otherwise a subject could stay held after `fifo_on_dead` was set to `pass`.
const holdStep = `
held as (
  insert into posthorn.held_subjects (endpoint_id, subject, sequence, delivery_id)
  select died.endpoint_id, died.subject, died.sequence, died.id
  from died
  cross join lateral (
    select
    from posthorn.endpoints ep
    cross join posthorn.endpoint_defaults defaults
    where ep.id = died.endpoint_id
      and ${holdsSubjects}
      and ep.deleted_at is null
    for share
  ) holding
  where died.subject is not null
),`;

const settleAny = statement("settle")`${settleText("")}`;
const settleAndHold = statement("settle and hold")`${settleText(holdStep)}`;
