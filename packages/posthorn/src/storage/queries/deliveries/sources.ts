// Builds the sources of a delivery list: queue and event claims for unfinished deliveries, history for finished ones.
// A source is a part of a statement with the parameters $1 (after), $2 (before) and $3 (number of rows).
import type { DeliveryState } from "./read.ts";

export interface ListQuery {
  readonly direction: "asc" | "desc";
  /** Maximum number of rows to examine per source. */
  readonly examineAtMost: number;
  readonly states: readonly DeliveryState[] | null;
  /**
   * anywhere: all endpoints, or too many to look up one by one. apart: each endpoint's rows separately. backlogged:
   * separately in history; in the queue they have so many rows that a scan soon meets them.
   */
  readonly spread: "anywhere" | "apart" | "backlogged";
  /** The parameter of a condition; null: no condition. */
  readonly endpoints: string | null;
  readonly stateArray: string | null;
  readonly type: string | null;
  readonly deadReason: string | null;
  readonly endedByMs: string | null;
  readonly onlyAttempted: boolean;
}

export interface Source {
  readonly name: string;
  /**
   * Selects the first matching rows. If it examined the maximum number of rows and found fewer, it adds the last row it
   * examined, marked by `is_edge`.
   */
  readonly text: string;
}

export function sourcesFor(query: ListQuery): readonly Source[] {
  const sources: Source[] = [];
  const isApart = query.spread !== "anywhere";
  if (may(query, "success", "dead"))
    sources.push({ name: "ended", text: isApart ? endedOfEndpoints(query) : endedAnywhere(query) });
  if (query.deadReason !== null) return sources;
  const isWaiting = may(query, "pending", "failed");
  const isInFlight = may(query, "in_flight");
  if (isWaiting && query.spread !== "apart") {
    sources.push({ name: "queued", text: queuedAnywhere(query) });
    return sources;
  }
  if (isWaiting) sources.push({ name: "waiting", text: waitingOfEndpoints(query) });
  if (isInFlight) sources.push({ name: "in_flight", text: inFlightAnywhere(query) });
  return sources;
}

function may({ states }: ListQuery, ...some: readonly DeliveryState[]): boolean {
  return states === null || some.some((state) => states.includes(state));
}

function isOnlyDead({ deadReason, states }: ListQuery): boolean {
  return deadReason !== null || (states !== null && !states.includes("success"));
}

// Dead deliveries have their own indexes on dead_reason. An additional "state = 'dead'" would make the planner expect a
// fiftieth of the rows, and sort them all.
function endedAnywhere(query: ListQuery): string {
  const { deadReason, direction, examineAtMost } = query;
  const isDead = deadReason === null ? "h.dead_reason is not null" : `h.dead_reason = ${deadReason}::text`;
  const source = `${finishedRows}
    where h.id > $1::uuid
      and h.id < $2::uuid
      ${isOnlyDead(query) ? `and ${isDead}` : ""}
    order by h.id ${direction}`;
  return firstOf(source, query, examineAtMost);
}

// Each endpoint separately: otherwise the planner sorts a tenant's whole history or scans everyone's. A range of the
// pair instead of "endpoint_id =", ordered by the pair, can only use the endpoint's index; given the choice, the
// planner scans the primary key past other endpoints' rows (300 ms at 300,000).
function endedOfEndpoints(query: ListQuery): string {
  const { direction, endpoints, examineAtMost } = query;
  const source = `${finishedRows}
    where (h.endpoint_id, h.id) > (query.endpoint_id, $1::uuid)
      and (h.endpoint_id, h.id) < (query.endpoint_id, $2::uuid)
      ${isOnlyDead(query) ? "and h.state = 'dead'" : ""}
    order by h.endpoint_id ${direction}, h.id ${direction}`;
  const share = `greatest($3::integer, ${examineAtMost} / cardinality(${endpoints}::uuid[]))`;
  return `
  select first.*
  from unnest(${endpoints}::uuid[]) as query (endpoint_id)
  cross join lateral (${firstOf(source, query, share)}) first`;
}

// All endpoints together, so that the planner knows that they have few rows. "offset 0" makes it read those rows before
// sorting them.
function waitingOfEndpoints(query: ListQuery): string {
  const { direction, endpoints, examineAtMost } = query;
  const source = `
    select d.*
    from (${queuedRows} where q.claimed_by is null and q.endpoint_id = any (${endpoints}::uuid[]) offset 0) d
    where d.id > $1::uuid
      and d.id < $2::uuid
    order by d.id ${direction}`;
  return firstOf(source, query, examineAtMost);
}

// The number of deliveries in flight is bounded by the workers, so all are scanned for those of an endpoint.
function inFlightAnywhere(query: ListQuery): string {
  return alongQueue(query, "and q.claimed_by is not null");
}

function queuedAnywhere(query: ListQuery): string {
  return alongQueue(query, "");
}

// The queue is small and in memory: five times as many rows can be examined in the same time.
function alongQueue(query: ListQuery, condition: string): string {
  const { direction, type, examineAtMost } = query;
  const source = `${unfinishedRows}
    where q.id > $1::uuid
      and q.id < $2::uuid
      ${condition}
    order by q.id ${direction}`;
  return firstOf(source, query, type === null ? examineAtMost * 5 : examineAtMost);
}

// A materialized CTE is read in the order it is written, and written only as far as it is read: if all rows match, no
// more are examined than shown. The source occurs once, because planning it costs time per partition. "(select …)"
// hides the inner limit from the planner, which would sort everything to return thousands of rows. The outer limit is
// visible: for more rows it would use JIT.
function firstOf(source: string, query: ListQuery, examineAtMost: number | string): string {
  const conditions = conditionsOf(query);
  return `
    with examined as materialized (
      select first.*
      from (
        ${source}
        limit (select ${examineAtMost})
      ) first
      limit ${examineAtMost}
    ),
    matching as materialized (
      select d.*
      from examined d
      ${conditions.length === 0 ? "" : `where ${conditions.join("\n        and ")}`}
      limit $3::integer
    )
    select matching.*, false as is_edge
    from matching
    union all
    (
      select examined.*, true
      from examined
      where (select count(*) from matching) < $3::integer
      offset ${examineAtMost} - 1
      limit 1
    )`;
}

function conditionsOf(query: ListQuery): string[] {
  const conditions = CONDITIONS.flatMap(([name, condition]) => {
    const parameter = query[name];
    return parameter === null ? [] : [condition.replace("?", parameter)];
  });
  return query.onlyAttempted ? [...conditions, "d.attempts > 0"] : conditions;
}

const CONDITIONS = [
  ["stateArray", "d.state = any (?::text[])"],
  ["deadReason", "d.dead_reason = ?::text"],
  ["endpoints", "d.endpoint_id = any (?::uuid[])"],
  ["endedByMs", "(d.finished_at is null or d.finished_at <= to_timestamp(?::double precision / 1000))"],
  // a scalar and not "exists", which the planner may turn into a join with all events; without "limit 1" it expects a
  // lookup in every partition and uses JIT for seconds
  ["type", "(select e.type from posthorn.events e where e.id = d.event_id limit 1) = ?::text"],
] as const;

// The two halves of the view posthorn.delivery_states.
const rowsOf = (table: string) => `
  select q.id, q.event_id, q.endpoint_id,
    case
      when q.claimed_by is not null then 'in_flight'
      when q.failures > 0 or posthorn.is_deferred(q.attempts, q.next_at) then 'failed'
      else 'pending'
    end as state,
    q.attempts,
    null::text as dead_reason,
    q.replay_count,
    null::timestamptz as finished_at
  from posthorn.${table} q
`;
const queuedRows = rowsOf("queue");
const unfinishedRows = rowsOf("unfinished");
const finishedRows = `
  select h.id, h.event_id, h.endpoint_id, h.state, h.attempts, h.dead_reason, h.replay_count,
    h.finished_at
  from posthorn.deliveries h
`;
