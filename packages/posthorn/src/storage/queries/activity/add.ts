// Adds a worker's counters to the chart intervals.
import type { Uuid } from "../../../model.ts";
import { LATENCY_BUCKETS } from "../../../observe/latency-histogram.ts";
import { float8Array, int4Array, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** The endpoint id under which the whole installation is counted. */
export const INSTALLATION: Uuid = "00000000-0000-0000-0000-000000000000";

/** Interval lengths in seconds: minutes for the installation only, five minutes and hours for every endpoint too. */
export const WIDTHS = { minute: 60, five: 300, hour: 3_600 } as const;
export type Width = (typeof WIDTHS)[keyof typeof WIDTHS];

export interface ActivityBucket {
  readonly width: Width;
  readonly atMs: number;
  readonly endpointId: Uuid;
  readonly success: number;
  readonly failed: number;
  readonly dead: number;
  readonly latency: Int32Array;
}

/** Rows are written in a fixed order, so that workers do not deadlock. */
export async function addActivity(db: Queryable, buckets: readonly ActivityBucket[]): Promise<void> {
  const sorted = buckets.toSorted(
    (a, b) => a.width - b.width || a.atMs - b.atMs || (a.endpointId < b.endpointId ? -1 : 1),
  );
  await db.query(addStatement, [
    int4Array(sorted.map(({ width }) => width)),
    float8Array(sorted.map(({ atMs }) => atMs)),
    uuidArray(sorted.map(({ endpointId }) => endpointId)),
    int4Array(sorted.map(({ success }) => success)),
    int4Array(sorted.map(({ failed }) => failed)),
    int4Array(sorted.map(({ dead }) => dead)),
    int4Array(sorted.flatMap(({ latency }) => [...latency])),
    LATENCY_BUCKETS,
  ]);
}

// losing a few seconds of a chart in a crash is acceptable
const addStatement = statement(
  "add activity",
  `
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
`,
);
