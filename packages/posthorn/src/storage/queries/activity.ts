// The chart intervals: counters of attempts per endpoint and time.
import type { Uuid } from "../../model.ts";
import { LATENCY_BUCKETS } from "../../observe/latency-histogram.ts";
import { float8Array, int4Array, uuidArray } from "../binary-array.ts";
import type { Queryable } from "../database.ts";
import { arrays, changes, rows, value } from "../query.ts";
import { statement } from "../sql.ts";

/** Sums of `posthorn.activity a`, one per latency bucket. */
const latencySums = Array.from(
  { length: LATENCY_BUCKETS },
  (_, index) => `sum(a.latency[${index + 1}])::integer`,
).join(", ");

/** The endpoint id under which the whole installation is counted. */
export const INSTALLATION: Uuid = "00000000-0000-0000-0000-000000000000";

/** Interval lengths in seconds: minutes for the installation only, five minutes and hours for every endpoint too. */
export const WIDTHS = { minute: 60, five: 300, hour: 3_600 } as const;
export type Width = (typeof WIDTHS)[keyof typeof WIDTHS];

export interface ActivityBucket extends Omit<ActivityRow, "latency"> {
  readonly width: Width;
  readonly endpointId: Uuid;
  readonly latency: Int32Array;
}

/** Rows are written in a fixed order, so that workers do not deadlock. */
export async function addActivity(db: Queryable, buckets: readonly ActivityBucket[]): Promise<void> {
  const sorted = buckets.toSorted(
    (a, b) => a.width - b.width || a.atMs - b.atMs || (a.endpointId < b.endpointId ? -1 : 1),
  );
  await db.query(addStatement, [
    ...arrays(sorted, {
      width: int4Array,
      atMs: float8Array,
      endpointId: uuidArray,
      success: int4Array,
      failed: int4Array,
      dead: int4Array,
    }),
    int4Array(sorted.flatMap(({ latency }) => [...latency])),
    LATENCY_BUCKETS,
  ]);
}

// losing a few seconds of a chart in a crash is acceptable
const addStatement = statement("add activity")`
insert into posthorn.activity as known (width, at, endpoint_id, success, failed, dead, latency)
select added.width, to_timestamp(added.at_ms / 1000), added.endpoint_id, added.success, added.failed, added.dead,
  ($7::integer[])[(added.place - 1) * $8::integer + 1 : added.place * $8::integer]
from unnest($1::integer[], $2::double precision[], $3::uuid[], $4::integer[], $5::integer[], $6::integer[])
  with ordinality as added (width, at_ms, endpoint_id, success, failed, dead, place)
cross join (select set_config('synchronous_commit', 'off', true) as is_set) quick
where quick.is_set is not null
order by added.place
on conflict (width, at, endpoint_id) do update
set success = known.success + excluded.success,
  failed = known.failed + excluded.failed,
  dead = known.dead + excluded.dead,
  latency = array(select one + other from unnest(known.latency, excluded.latency) as pair (one, other))
`;

/** A table of the timestamps in a parameter of milliseconds. */
const timesIn = (parameter: string): string =>
  `any (array(select to_timestamp(asked.ms / 1000) from unnest(${parameter}::double precision[]) as asked (ms)))`;

export interface ActivityRow {
  readonly atMs: number;
  readonly success: number;
  readonly failed: number;
  readonly dead: number;
  readonly latency: readonly number[];
}

/** Returns the sums over these endpoints, without empty intervals. One index lookup each: 288 for a day of an endpoint. */
export const readActivity = rows<
  ActivityRow,
  [width: Width, timesMs: readonly number[], endpointIds: readonly Uuid[]]
>("read activity", (width, timesMs, endpointIds) => [width, float8Array(timesMs), endpointIds])`
select
  posthorn.epoch_ms(a.at) as "atMs",
  sum(a.success)::double precision as success,
  sum(a.failed)::double precision as failed,
  sum(a.dead)::double precision as dead,
  json_build_array(${latencySums}) as latency
from posthorn.activity a
where a.width = $1::integer
  and a.at = ${timesIn("$2")}
  and a.endpoint_id = any ($3::uuid[])
group by a.at
order by a.at
`;

export interface EndpointHourRow {
  readonly endpointId: Uuid;
  readonly atMs: number;
  readonly success: number;
  /** Includes deliveries that became dead. */
  readonly failed: number;
}

/** Returns counts per endpoint and hour, from hourly rows and from five-minute rows that are not rolled up yet. */
export const endpointHours = rows<
  EndpointHourRow,
  [
    endpointIds: readonly Uuid[],
    times: { readonly rolledUpMs: readonly number[]; readonly fivesMs: readonly number[] },
  ]
>("hours of endpoints", (endpointIds, times) => [
  endpointIds,
  float8Array(times.rolledUpMs),
  float8Array(times.fivesMs),
])`
select
  part.endpoint_id as "endpointId",
  floor(extract(epoch from part.at) / 3600)::double precision * 3600000 as "atMs",
  sum(part.success)::double precision as success,
  sum(part.failed + part.dead)::double precision as failed
from (
  select a.endpoint_id, a.at, a.success, a.failed, a.dead
  from posthorn.activity a
  where a.width = 3600
    and a.at = ${timesIn("$2")}
    and a.endpoint_id = any ($1::uuid[])
  union all
  select a.endpoint_id, a.at, a.success, a.failed, a.dead
  from posthorn.activity a
  where a.width = 300
    and a.at = ${timesIn("$3")}
    and a.endpoint_id = any ($1::uuid[])
) part
group by 1, 2
`;

/** Rolls up the next endpoints by id, an hour as the sum of its intervals. Returns the last one; null: there were no more. */
export const rollUpHour = value<Uuid | null, [hour: Date, after: Uuid | null, most: number]>(
  "roll up activity",
)`
with taken as materialized (
  select distinct a.endpoint_id
  from posthorn.activity a
  where a.width = 300
    and a.at >= $1::timestamptz
    and a.at < $1::timestamptz + interval '1 hour'
    and ($2::uuid is null or a.endpoint_id > $2::uuid)
  order by a.endpoint_id
  limit $3::integer
),
rolled as (
  insert into posthorn.activity as known (width, at, endpoint_id, success, failed, dead, latency)
  select 3600, $1::timestamptz, a.endpoint_id, sum(a.success), sum(a.failed), sum(a.dead), array[${latencySums}]
  from posthorn.activity a
  where a.width = 300
    and a.at = any (array(
      select generate_series($1::timestamptz, $1::timestamptz + interval '55 minutes', interval '5 minutes')
    ))
    and a.endpoint_id = any (array(select taken.endpoint_id from taken))
  group by a.endpoint_id
  on conflict (width, at, endpoint_id) do update
  set success = excluded.success,
    failed = excluded.failed,
    dead = excluded.dead,
    latency = excluded.latency
  where known.latency is distinct from excluded.latency
)
select taken.endpoint_id as last
from taken
order by taken.endpoint_id desc
limit 1
`;

/** Returns how many were deleted, at most `most`. */
export const pruneActivity = changes<[width: number, keptSeconds: number, most: number]>("prune activity")`
delete from posthorn.activity a
where a.ctid = any (array(
    select old.ctid
    from posthorn.activity old
    where old.width = $1::integer
      and old.at < posthorn.now() - $2::double precision * interval '1 second'
    limit $3::integer
    for update skip locked
  ))
`;
