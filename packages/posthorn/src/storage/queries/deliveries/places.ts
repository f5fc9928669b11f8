// Where deliveries with certain properties can be, and what it takes to find them there: the queue for what is owed,
// history for what has ended. Each place is a piece of a statement with the parameters $1 (after), $2 (before) and $3
// (how many rows).
import type { DeliveryState } from "./delivery-row.ts";

export interface Asked {
  readonly direction: "asc" | "desc";
  /** How many rows of a place are looked at. */
  readonly lookAt: number;
  readonly states: readonly DeliveryState[] | null;
  /**
   * Anywhere: of all endpoints, or of too many to look at one by one. Apart: each endpoint's rows by themselves.
   * Backlogged: in history the same; in the queue so many are theirs that they are met soon among the others.
   */
  readonly spread: "anywhere" | "apart" | "backlogged";
  /** Where a condition's value is bound; null when it is not asked for. */
  readonly endpoints: string | null;
  readonly stateArray: string | null;
  readonly type: string | null;
  readonly deadReason: string | null;
  readonly endedByMs: string | null;
}

export interface Place {
  readonly name: string;
  /** Its first rows, as many as are asked for. */
  readonly text: string;
  /** An expression: the last id that was looked at, or null. A null in place of it: it is always looked through. */
  readonly edge: string | null;
}

export function placesOf(asked: Asked): { places: readonly Place[]; direction: "asc" | "desc" } {
  const places: Place[] = [];
  const isApart = asked.spread !== "anywhere";
  if (mayHaveEnded(asked)) places.push(isApart ? endedOfEndpoints(asked) : endedAnywhere(asked));
  if (mayBeOwed(asked) && asked.spread === "apart" && may(asked, "pending", "failed"))
    places.push(waitingOfEndpoints(asked));
  if (mayBeOwed(asked) && (asked.spread !== "apart" || may(asked, "in_flight")))
    places.push(owedAnywhere(asked, places));
  return { places, direction: asked.direction };
}

function may({ states }: Asked, ...some: readonly DeliveryState[]): boolean {
  return states === null || some.some((state) => states.includes(state));
}

function mayBeOwed(asked: Asked): boolean {
  return asked.deadReason === null && may(asked, "pending", "in_flight", "failed");
}

function mayHaveEnded(asked: Asked): boolean {
  return may(asked, "success", "dead");
}

// Dead ones have indexes of their own: only they are looked at when only they are asked for.
function endedAnywhere(asked: Asked): Place {
  const { deadReason, states } = asked;
  const isDead = deadReason !== null || states?.every((state) => state !== "success") === true;
  const where = `h.id > $1::uuid
    and h.id < $2::uuid
    ${isDead ? "and h.state = 'dead'" : ""}
    ${deadReason === null ? "" : `and h.dead_reason = ${deadReason}::text`}`;
  return {
    name: "ended",
    text: firstOf(`${ended} where ${where} ${inOrder("h.id", asked)}`, asked),
    edge: edgeOf("ended", `select h.id from posthorn.deliveries h where ${where} order by h.id`, asked),
  };
}

// Each endpoint's by itself: in one piece the planner would sort all of a tenant's history or walk everybody's. A range
// of the pair instead of "endpoint_id =", and in the pair's order: only the endpoint's own index serves that. Given the
// choice, the planner walks the primary key and passes over everybody else's rows (300 ms at 300,000). Dead ones are few:
// for them it chooses well.
function endedOfEndpoints(asked: Asked): Place {
  const { endpoints, direction, deadReason, states } = asked;
  const isDead = deadReason !== null || states?.every((state) => state !== "success") === true;
  const where = isDead
    ? `h.endpoint_id = asked.endpoint_id
    and h.id > $1::uuid
    and h.id < $2::uuid
    and h.state = 'dead'`
    : `(h.endpoint_id, h.id) > (asked.endpoint_id, $1::uuid)
    and (h.endpoint_id, h.id) < (asked.endpoint_id, $2::uuid)`;
  const order = `order by h.endpoint_id ${direction}, h.id`;
  const share = `greatest($3::integer, ${asked.lookAt} / cardinality(${endpoints}::uuid[]))`;
  const eachOne = (text: string) => `
select found.*
from unnest(${endpoints}::uuid[]) as asked (endpoint_id)
cross join lateral (${text}) found
`;
  const edges = eachOne(`
    select h.id
    from posthorn.deliveries h
    where ${where}
      and (select count(*) from ended where ended.endpoint_id = asked.endpoint_id) < $3::integer
    ${order} ${direction}
    offset ${share} - 1
    limit 1
  `);
  return {
    name: "ended",
    text: eachOne(
      firstOf(`${ended} where ${where} ${order} ${direction} limit ${share}`, asked, {
        order: `d.endpoint_id ${direction}, d.id`,
      }),
    ),
    edge: `(select edges.id from (${edges}) edges order by edges.id ${direction} limit 1)`,
  };
}

const inRange = ["d.id > $1::uuid", "d.id < $2::uuid"];

// "offset 0": first the endpoint's own rows, all of them, then their order
function waitingOfEndpoints(asked: Asked): Place {
  const waiting = `${owed} where q.claimed_by is null and q.endpoint_id = asked.endpoint_id offset 0`;
  return {
    name: "waiting",
    text: `
select found.*
from unnest(${asked.endpoints}::uuid[]) as asked (endpoint_id)
cross join lateral (${firstOf(waiting, asked, { conditions: inRange })}) found
`,
    edge: null,
  };
}

// What is in flight is in no index: one more would cost every delivery. So it is looked for along the primary key, of an
// endpoint only as far as the page goes that the other places fill. The queue is small and in memory: five times as many
// of its rows are looked at in the same time.
function owedAnywhere(asked: Asked, others: readonly Place[]): Place {
  const { direction, spread } = asked;
  const union = others.map(({ name }) => `select id from ${name}`).join(" union all ");
  const farthest =
    others.length === 0 || spread === "anywhere"
      ? "null::uuid"
      : `(select other.id from (${union}) other order by other.id ${direction} offset $3::integer - 1 limit 1)`;
  const where = `q.id > ${direction === "desc" ? `coalesce(${farthest}, $1::uuid)` : "$1::uuid"}
    and q.id < ${direction === "asc" ? `coalesce(${farthest}, $2::uuid)` : "$2::uuid"}`;
  const conditions = spread === "apart" ? ["d.state = 'in_flight'"] : [];
  const far = { ...asked, lookAt: asked.type === null ? asked.lookAt * 5 : asked.lookAt };
  return {
    name: "owed",
    text: firstOf(`${owed} where ${where} ${inOrder("q.id", far)}`, asked, { conditions }),
    edge: edgeOf("owed", `select q.id from posthorn.queue q where ${where} order by q.id`, far),
  };
}

/** Of a source that is in order and no longer than may be looked at: it is read no further than it has to be. */
function firstOf(
  source: string,
  asked: Asked,
  { conditions = [], order = "d.id" }: { conditions?: readonly string[]; order?: string } = {},
): string {
  const { direction, stateArray, deadReason, type, endpoints, endedByMs } = asked;
  const all = [
    ...conditions,
    ...(stateArray === null ? [] : [`d.state = any (${stateArray}::text[])`]),
    ...(deadReason === null ? [] : [`d.dead_reason = ${deadReason}::text`]),
    ...(endpoints === null ? [] : [`d.endpoint_id = any (${endpoints}::uuid[])`]),
    ...(endedByMs === null
      ? []
      : [`(d.finished_at is null or d.finished_at <= to_timestamp(${endedByMs}::double precision / 1000))`]),
    // a value and not "exists", which the planner may turn into a join with all events
    ...(type === null
      ? []
      : [`(select e.type from posthorn.events e where e.id = d.event_id limit 1) = ${type}::text`]),
  ];
  return `
select d.*
from (${source}) d
${all.length === 0 ? "" : `where ${all.join("\n  and ")}`}
order by ${order} ${direction}
limit $3::integer
`;
}

function inOrder(column: string, { direction, lookAt }: Asked): string {
  return `order by ${column} ${direction} limit ${lookAt}`;
}

/** A place that has as many rows as are asked for was looked at far enough. */
function edgeOf(name: string, ids: string, { direction, lookAt }: Asked): string {
  return `case
    when (select count(*) from ${name}) < $3::integer
    then (${ids} ${direction} offset ${lookAt - 1} limit 1)
  end`;
}

// The two halves of the view posthorn.delivery_states.
const owed = `
  select q.id, q.event_id, q.endpoint_id,
    case
      when q.claimed_by is not null then 'in_flight'
      when q.failures > 0 or posthorn.is_put_off(q.attempts, q.next_at) then 'failed'
      else 'pending'
    end as state,
    q.attempts,
    case
      when q.claimed_by is null and (q.failures > 0 or posthorn.is_put_off(q.attempts, q.next_at))
      then nullif(q.next_at, 'infinity')
    end as next_retry_at,
    null::text as dead_reason,
    q.replay_count,
    null::timestamptz as finished_at
  from posthorn.queue q
`;
const ended = `
  select h.id, h.event_id, h.endpoint_id, h.state, h.attempts, null::timestamptz as next_retry_at, h.dead_reason,
    h.replay_count, h.finished_at
  from posthorn.deliveries h
`;
