// Records the outcomes of attempts, many in one statement. The fence is `claimed_by = me`: a reaped worker settles
// nothing, and its attempts stay recorded as unknown.
import type { Decision, Settlement, Uuid } from "../../../model.ts";
import { byteaArray, float8Array, int2Array, int4Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** Returns the ids that were settled; missing ones belong to another worker now. */
export async function settle(
  db: Queryable,
  workerId: number,
  settlements: readonly Settlement[],
): Promise<Set<Uuid>> {
  const delivered = settlements.filter(({ decision }) => decision.kind === "delivered");
  const dead = sortedById(settlements, "dead");
  const retries = sortedById(settlements, "retry");
  // looking for subjects to hold takes 0.07 ms, which unordered endpoints do not pay
  const mayHold = dead.some(({ delivery }) => delivery.isOrdered);
  const [row] = await db.query<{ refused: Uuid[] | null }>(mayHold ? settleAndHold : settleOnly, [
    workerId,
    uuidArray(delivered.map(({ delivery }) => delivery.id)),
    uuidArray(dead.map(({ delivery }) => delivery.id)),
    textArray(dead.map(({ decision }) => decision.reason)),
    uuidArray(retries.map(({ delivery }) => delivery.id)),
    float8Array(retries.map(({ decision }) => decision.delayMs)),
    int4Array(retries.map(({ decision }) => (decision.isFailure ? 1 : 0))),
    uuidArray(settlements.map(({ delivery }) => delivery.id)),
    int4Array(settlements.map(({ delivery }) => delivery.attempts + 1)),
    float8Array(settlements.map(({ startedAt }) => startedAt.getTime())),
    int4Array(settlements.map(({ outcome }) => Math.round(outcome.durationMs))),
    int2Array(settlements.map(({ outcome }) => (outcome.kind === "answered" ? outcome.statusCode : null))),
    textArray(settlements.map(({ outcome }) => (outcome.kind === "failed" ? outcome.error : null))),
    byteaArray(settlements.map(({ outcome }) => responseBody(outcome))),
    float8Array(settlements.map(({ decision }) => (decision.kind === "retry" ? decision.delayMs : null))),
    textArray(settlements.map(({ delivery }) => delivery.trigger)),
    int4Array(retries.map(({ delivery }) => delivery.attempts)),
    int4Array(settlements.map(({ outcome }) => outcome.phases.connectMs)),
    int4Array(settlements.map(({ outcome }) => outcome.phases.tlsMs)),
    int4Array(settlements.map(({ outcome }) => outcome.phases.firstByteMs)),
  ]);
  const settled = new Set(settlements.map(({ delivery }) => delivery.id));
  for (const id of row?.refused ?? []) settled.delete(id);
  return settled;
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

/** The response body, or the error if there was no response. */
function responseBody(outcome: Settlement["outcome"]): Uint8Array | null {
  if (outcome.kind === "failed") return Buffer.from(outcome.detail);
  return outcome.responseBody.byteLength === 0 ? null : outcome.responseBody;
}

// No joins: a generic plan expects `claimed_by = me` to match one row and uses a nested loop, and 500 rows take 120 ms
// instead of 10. Rows are found by "= any", per-row values by width_bucket (a binary search in the sorted ids), and "(…
// in (select …)) is true" is a hashed lookup that the planner does not turn into a join.
const settleText = (holdStep: string): string => `
with delivered as (
  delete from posthorn.queue q
  where q.id = any ($2::uuid[])
    and q.claimed_by = $1::integer
  returning q.id, q.event_id, q.endpoint_id, q.attempts + 1 as attempts, q.replay_count
),
died as (
  delete from posthorn.queue q
  where q.id = any ($3::uuid[])
    and q.claimed_by = $1::integer
  returning q.id, q.event_id, q.endpoint_id, q.attempts + 1 as attempts, q.replay_count, q.subject, q.sequence
),
${holdStep}
postponed as (
  update posthorn.queue q
  set claimed_by = null,
    attempts = q.attempts + 1,
    failures = q.failures + ($7::integer[])[width_bucket(q.id, $5::uuid[])],
    next_at = posthorn.now()
      + ($6::double precision[])[width_bucket(q.id, $5::uuid[])] * interval '1 millisecond',
    trigger = 'retry'
  where q.id = any ($5::uuid[])
    and q.claimed_by = $1::integer
    -- when sent again after a lost reply, this worker may already have claimed the row for the next attempt
    and q.attempts = ($17::integer[])[width_bucket(q.id, $5::uuid[])]
  returning q.id
),
history as (
  insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
  select id, event_id, endpoint_id, 'success', null, attempts, replay_count, posthorn.now()
  from delivered
  union all
  select id, event_id, endpoint_id, 'dead', ($4::text[])[width_bucket(id, $3::uuid[])], attempts, replay_count,
    posthorn.now()
  from died
),
settled as materialized (
  select id from delivered
  union all
  select id from died
  union all
  select id from postponed
),
recorded as (
  insert into posthorn.attempts (
    delivery_id, number, started_at, duration_ms, status_code, error, response_body, next_retry_at, trigger, worker,
    connect_ms, tls_ms, first_byte_ms
  )
  select said.id, said.number, to_timestamp(said.started_ms / 1000), said.duration_ms, said.status_code, said.error,
    said.response_body, posthorn.now() + said.delay_ms * interval '1 millisecond', said.trigger, $1::integer,
    said.connect_ms, said.tls_ms, said.first_byte_ms
  from unnest(
    $8::uuid[], $9::integer[], $10::double precision[], $11::integer[], $12::smallint[], $13::text[], $14::bytea[],
    $15::double precision[], $16::text[], $18::integer[], $19::integer[], $20::integer[]
  ) as said (
    id, number, started_ms, duration_ms, status_code, error, response_body, delay_ms, trigger, connect_ms, tls_ms,
    first_byte_ms
  )
  where (said.id in (select id from settled)) is true
)
select json_agg(said.id) as refused
from unnest($8::uuid[]) as said (id)
where (said.id in (select id from settled)) is not true
`;

// Locks the endpoint, or a subject would stay held after its endpoint was set to let dead deliveries pass.
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

const settleOnly = statement("settle", settleText(""));
const settleAndHold = statement("settle and hold", settleText(holdStep));
