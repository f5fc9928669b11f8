// Deliveries in numbers, at a cost that does not grow with what there is: every part is counted up to a bound and found
// along an index, or is the first part of the queue. A million rows owed and a million ended: 25 ms for all, 12 ms for an
// endpoint.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface DeliveryStatsRow {
  readonly pending: number;
  readonly failed: number;
  readonly inFlight: number;
  readonly dead: number;
  /** False: there may be more than was counted. */
  readonly isWaitingExact: boolean;
  readonly isInFlightExact: boolean;
  readonly isDeadExact: boolean;
  readonly endedWell: number;
  readonly endedDead: number;
  readonly isEndedExact: boolean;
  /** Milliseconds from the event to the end, of those that ended well: half, 95 % and 99 % of them took at most so long. */
  readonly latencies: readonly [number, number, number] | null;
  readonly sinceMs: number;
}

export interface DeliveryStatsQuery {
  /** Null: of all endpoints. */
  readonly endpointIds: readonly Uuid[] | null;
  /** Of events since so long, what has ended is looked at. */
  readonly periodSeconds: number;
  readonly countedAtMost: number;
}

export async function deliveryStats(db: Queryable, query: DeliveryStatsQuery): Promise<DeliveryStatsRow> {
  const { endpointIds, periodSeconds, countedAtMost } = query;
  const values = [periodSeconds, countedAtMost];
  const [row] =
    endpointIds === null
      ? await db.query<DeliveryStatsRow>(allStatement, values)
      : await db.query<DeliveryStatsRow>(endpointsStatement, [
          ...values,
          uuidArray(endpointIds),
          share(countedAtMost, endpointIds.length),
        ]);
  return row as DeliveryStatsRow;
}

/** Each endpoint has a part of what is counted, and at least so much that a percentile means something. */
function share(countedAtMost: number, endpoints: number): number {
  return Math.max(100, Math.floor(countedAtMost / Math.max(1, endpoints)));
}

interface Parts {
  /** What is counted of one endpoint, or of all, at most. */
  readonly bound: string;
  readonly isAsked: string;
  /** Rows for each endpoint that is asked for, under its id. */
  readonly perEndpoint: (piece: (condition: string) => string) => string;
  /** What waits: from the first part of the queue, or along the index of what is owed to an endpoint. */
  readonly waiting: string;
  readonly isWaitingExact: string;
}

const stateOfOwed = `case
    when q.claimed_by is not null then 'in_flight'
    when q.failures > 0 or posthorn.is_put_off(q.attempts, q.next_at) then 'failed'
    else 'pending'
  end`;

const all: Parts = {
  bound: "$2::integer",
  isAsked: "true",
  perEndpoint: (piece) => `select null::uuid as asked_id, found.* from (${piece("true")}) found`,
  waiting: "select null::uuid as asked_id, scanned.state from scanned where scanned.state <> 'in_flight'",
  isWaitingExact: "(select count(*) <= $2::integer from scanned)",
};

const ofEndpoints: Parts = {
  bound: "$4::integer",
  isAsked: "q.endpoint_id = any ($3::uuid[])",
  perEndpoint: (piece) => `
    select asked.id as asked_id, found.*
    from unnest($3::uuid[]) as asked (id)
    cross join lateral (${piece("x.endpoint_id = asked.id")}) found`,
  waiting: `
    select asked.id as asked_id, found.state
    from unnest($3::uuid[]) as asked (id)
    cross join lateral (
      select ${stateOfOwed} as state
      from posthorn.queue q
      where q.endpoint_id = asked.id
        and q.claimed_by is null
      limit $4::integer + 1
    ) found`,
  isWaitingExact: isExact("waiting", "$4::integer"),
};

/** Nothing asked for reached its bound. */
function isExact(part: string, bound: string): string {
  return `(not exists (select from ${part} group by asked_id having count(*) > ${bound}))`;
}

// Those in flight are in no index, which would cost every delivery; they are counted in the first part of the queue.
const statsText = (parts: Parts): string => `
with scanned as materialized (
  select ${stateOfOwed} as state, ${parts.isAsked} as is_asked
  from (select * from posthorn.queue limit $2::integer + 1) q
),
waiting as materialized (
  ${parts.waiting}
),
dead as materialized (
  ${parts.perEndpoint(
    (condition) => `
      select x.id
      from posthorn.deliveries x
      where x.state = 'dead'
        and ${condition}
      order by x.endpoint_id, x.id
      limit ${parts.bound} + 1`,
  )}
),
ended as materialized (
  ${parts.perEndpoint(
    (condition) => `
      select x.id, x.state, x.finished_at
      from posthorn.deliveries x
      where x.id >= posthorn.lowest_uuid_at(posthorn.now() - $1::double precision * interval '1 second')
        and ${condition}
      order by ${parts === all ? "" : "x.endpoint_id desc, "}x.id desc
      limit ${parts.bound} + 1`,
  )}
)
select
  (select count(*) from waiting where state = 'pending')::double precision as pending,
  (select count(*) from waiting where state = 'failed')::double precision as failed,
  (select count(*) from scanned where state = 'in_flight' and is_asked)::double precision as "inFlight",
  (select count(*) from dead)::double precision as dead,
  ${parts.isWaitingExact} as "isWaitingExact",
  (select count(*) <= $2::integer from scanned) as "isInFlightExact",
  ${isExact("dead", parts.bound)} as "isDeadExact",
  (select count(*) from ended where state = 'success')::double precision as "endedWell",
  (select count(*) from ended where state = 'dead')::double precision as "endedDead",
  ${isExact("ended", parts.bound)} as "isEndedExact",
  (
    select to_json(percentile_disc(array[0.5, 0.95, 0.99]) within group (order by took.ms))
    from (
      select greatest(0, posthorn.epoch_ms(ended.finished_at)
        - ('x' || lpad(replace(left(ended.id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint) as ms
      from ended
      where ended.state = 'success'
    ) took
  ) as latencies,
  posthorn.epoch_ms(posthorn.now()) - $1::double precision * 1000 as "sinceMs"
`;

const allStatement = statement("delivery stats", statsText(all));
const endpointsStatement = statement("delivery stats of endpoints", statsText(ofEndpoints));
