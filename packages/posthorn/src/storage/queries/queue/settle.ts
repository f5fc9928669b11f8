// Writes down what came of attempts, many in one statement. The whole fence is `claimed_by = me`: a worker that was
// buried settles nothing, and what it would have said stays recorded as unknown.
import type { Settlement, Uuid } from "../../../model.ts";
import { byteaArray, float8Array, int2Array, int4Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** Returns the ids that were settled; one that is missing belongs to somebody else by now. */
export async function settle(
  db: Queryable,
  workerId: number,
  settlements: readonly Settlement[],
): Promise<Set<Uuid>> {
  const rows = await db.query<{ id: Uuid }>(settleStatement, [
    workerId,
    uuidArray(settlements.map(({ delivery }) => delivery.id)),
    textArray(settlements.map(({ decision }) => finalState(decision.kind))),
    textArray(settlements.map(({ decision }) => (decision.kind === "dead" ? decision.reason : null))),
    float8Array(settlements.map(({ decision }) => (decision.kind === "retry" ? decision.delayMs : null))),
    float8Array(settlements.map(({ startedAt }) => startedAt.getTime())),
    int4Array(settlements.map(({ outcome }) => Math.round(outcome.durationMs))),
    int2Array(settlements.map(({ outcome }) => (outcome.kind === "answered" ? outcome.statusCode : null))),
    textArray(settlements.map(({ outcome }) => (outcome.kind === "failed" ? outcome.error : null))),
    byteaArray(settlements.map(({ outcome }) => responseBody(outcome))),
    textArray(settlements.map(({ delivery }) => delivery.trigger)),
  ]);
  return new Set(rows.map((row) => row.id));
}

function finalState(kind: Settlement["decision"]["kind"]): "success" | "dead" | null {
  if (kind === "delivered") return "success";
  return kind === "dead" ? "dead" : null;
}

/** What the receiver said, or what went wrong in words when it said nothing. */
function responseBody(outcome: Settlement["outcome"]): Uint8Array | null {
  if (outcome.kind === "failed") return Buffer.from(outcome.detail);
  return outcome.responseBody.byteLength === 0 ? null : outcome.responseBody;
}

const settleStatement = statement(
  "settle",
  `
with said as materialized (
  select *
  from unnest(
    $2::uuid[], $3::text[], $4::text[], $5::double precision[], $6::double precision[],
    $7::integer[], $8::smallint[], $9::text[], $10::bytea[], $11::text[]
  ) as s (id, state, dead_reason, delay_ms, started_ms, duration_ms, status_code, error, response_body, trigger)
),
finished as (
  delete from posthorn.queue q
  using said s
  where q.id = any ($2::uuid[])
    and q.id = s.id
    and q.claimed_by = $1::integer
    and s.state is not null
  returning q.id, q.event_id, q.endpoint_id, q.attempts + 1 as attempts, q.replay_count
),
postponed as (
  update posthorn.queue q
  set claimed_by = null,
    attempts = q.attempts + 1,
    failures = q.failures + 1,
    next_at = posthorn.now() + s.delay_ms * interval '1 millisecond',
    trigger = 'retry'
  from said s
  where q.id = any ($2::uuid[])
    and q.id = s.id
    and q.claimed_by = $1::integer
    and s.state is null
  returning q.id, q.attempts, q.next_at
),
history as (
  insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
  select f.id, f.event_id, f.endpoint_id, s.state, s.dead_reason, f.attempts, f.replay_count, posthorn.now()
  from finished f
  join said s on s.id = f.id
),
settled as materialized (
  select id, attempts, null::timestamptz as next_at from finished
  union all
  select id, attempts, next_at from postponed
),
recorded as (
  insert into posthorn.attempts (
    delivery_id, number, started_at, duration_ms, status_code, error, response_body, next_retry_at, trigger, worker
  )
  select settled.id, settled.attempts, to_timestamp(s.started_ms / 1000), s.duration_ms, s.status_code, s.error,
    s.response_body, settled.next_at, s.trigger, $1::integer
  from settled
  join said s on s.id = settled.id
)
select id from settled
`,
);
