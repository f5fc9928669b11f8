// Counts deliveries at a bounded cost: every part is counted up to a limit along an index, or from the first part of
// the queue. With a million queued and a million finished, limits of 10,000 and 2,000, and most pages on disk: 30 ms,
// for all endpoints as for one.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { onlyRow } from "../../query.ts";

export interface DeliveryStatsRow {
  readonly pending: number;
  readonly failed: number;
  readonly inFlight: number;
  readonly dead: number;
  /** False: there may be more. */
  readonly isWaitingExact: boolean;
  readonly isInFlightExact: boolean;
  readonly isDeadExact: boolean;
  /** Milliseconds from the event to the successful end: the 50th, 95th and 99th percentile. Of the newest, up to the limit. */
  readonly latencies: readonly [number, number, number] | null;
}

export interface DeliveryStatsQuery {
  /** Null: all endpoints. */
  readonly endpointIds: readonly Uuid[] | null;
  /** Latencies are those of events of this period. */
  readonly periodSeconds: number;
  /** Maximum number of queue rows to read sequentially. */
  readonly scannedAtMost: number;
  /** Maximum number of rows of history, or of an endpoint's queue; each may be on a different page. */
  readonly countedAtMost: number;
}

export async function deliveryStats(db: Queryable, query: DeliveryStatsQuery): Promise<DeliveryStatsRow> {
  const { endpointIds, periodSeconds, scannedAtMost, countedAtMost } = query;
  if (endpointIds === null) return await statsOfAll(db, periodSeconds, scannedAtMost, countedAtMost);
  const counted = share(countedAtMost, endpointIds.length);
  return await statsOfEndpoints(db, periodSeconds, scannedAtMost, counted, endpointIds);
}

/** Divides the limit among the endpoints, with a minimum for each. */
function share(countedAtMost: number, endpoints: number): number {
  return Math.max(10, Math.floor(countedAtMost / Math.max(1, endpoints)));
}

interface Parts {
  readonly isAsked: string;
  /** Queued deliveries: the first part of the queue, or along the index of an endpoint. */
  readonly waiting: string;
  readonly isWaitingExact: string;
  readonly dead: string;
  /** Finished deliveries of the period's events, newest first. */
  readonly ended: string;
}

const since = "posthorn.lowest_uuid_at(posthorn.now() - $1::double precision * interval '1 second')";

const stateOfWaiting = `case
    when q.failures > 0 or posthorn.is_deferred(q.attempts, q.next_at) then 'failed'
    else 'pending'
  end`;

const all: Parts = {
  isAsked: "true",
  waiting: `
    select null::uuid as asked_id, ${stateOfWaiting} as state
    from (
      select *
      from posthorn.queue
      where claimed_by is null
      limit $2::integer + 1
    ) q`,
  isWaitingExact: "(select count(*) <= $2::integer from waiting)",
  dead: `
    select null::uuid as asked_id
    from (
      select
      from posthorn.deliveries d
      where d.state = 'dead'
      order by d.endpoint_id, d.id
      limit $3::integer + 1
    ) found`,
  ended: `
    select null::uuid as asked_id, found.*
    from (
      select d.id, d.state, d.finished_at
      from posthorn.deliveries d
      where d.id >= ${since}
      order by d.id desc
      limit $3::integer
    ) found`,
};

const ofEndpoints: Parts = {
  isAsked: "q.endpoint_id = any ($4::uuid[])",
  waiting: `
    select asked.id as asked_id, found.state
    from unnest($4::uuid[]) as asked (id)
    cross join lateral (
      select ${stateOfWaiting} as state
      from posthorn.queue q
      where q.endpoint_id = asked.id
        and q.claimed_by is null
      limit $3::integer + 1
    ) found`,
  isWaitingExact: isExact("waiting"),
  dead: `
    select asked.id as asked_id
    from unnest($4::uuid[]) as asked (id)
    cross join lateral (
      select
      from posthorn.deliveries d
      where d.state = 'dead'
        and d.endpoint_id = asked.id
      order by d.endpoint_id, d.id
      limit $3::integer + 1
    ) found`,
  // a range of the pair, as in list.ts, can only use the endpoint's index
  ended: `
    select asked.id as asked_id, found.*
    from unnest($4::uuid[]) as asked (id)
    cross join lateral (
      select d.id, d.state, d.finished_at
      from posthorn.deliveries d
      where (d.endpoint_id, d.id) >= (asked.id, ${since})
        and (d.endpoint_id, d.id) < (asked.id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
      order by d.endpoint_id desc, d.id desc
      limit $3::integer
    ) found`,
};

/** Whether no limit was reached. */
function isExact(part: string): string {
  return `(not exists (select from ${part} group by asked_id having count(*) > $3::integer))`;
}

const statsText = (parts: Parts): string => `
with flying as materialized (
  select ${parts.isAsked} as is_asked
  from (
    select q.endpoint_id
    from posthorn.unfinished q
    where q.claimed_by is not null
    order by q.id
    limit $2::integer + 1
  ) q
),
waiting as materialized (
  ${parts.waiting}
),
dead as materialized (
  ${parts.dead}
),
ended as materialized (
  ${parts.ended}
)
select
  (select count(*) from waiting where state = 'pending')::double precision as pending,
  (select count(*) from waiting where state = 'failed')::double precision as failed,
  (select count(*) from flying where is_asked)::double precision as "inFlight",
  (select count(*) from dead)::double precision as dead,
  ${parts.isWaitingExact} as "isWaitingExact",
  (select count(*) <= $2::integer from flying) as "isInFlightExact",
  ${isExact("dead")} as "isDeadExact",
  (
    select to_json(percentile_disc(array[0.5, 0.95, 0.99]) within group (order by took.ms))
    from (
      select greatest(0, posthorn.epoch_ms(ended.finished_at) - posthorn.uuid_ms(ended.id)) as ms
      from ended
      where ended.state = 'success'
    ) took
  ) as latencies
`;

type Limits = [periodSeconds: number, scannedAtMost: number, countedAtMost: number];

const statsOfAll = onlyRow<DeliveryStatsRow, Limits>("delivery stats")`${statsText(all)}`;
const statsOfEndpoints = onlyRow<DeliveryStatsRow, [...Limits, endpointIds: readonly Uuid[]]>(
  "delivery stats of endpoints",
)`${statsText(ofEndpoints)}`;
