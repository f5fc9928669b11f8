// Reads chart intervals. Their times are known, so each interval is one index lookup: 288 for a day of an endpoint.
import type { Uuid } from "../../../model.ts";
import { float8Array, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import type { Width } from "./add.ts";
import { latencySums } from "./sums.ts";

export interface ActivityRow {
  readonly atMs: number;
  readonly success: number;
  readonly failed: number;
  readonly dead: number;
  readonly latency: readonly number[];
}

/** Returns the sums over these endpoints; intervals without attempts are omitted. */
export async function readActivity(
  db: Queryable,
  width: Width,
  timesMs: readonly number[],
  endpointIds: readonly Uuid[],
): Promise<ActivityRow[]> {
  return await db.query<ActivityRow>(readStatement, [width, float8Array(timesMs), uuidArray(endpointIds)]);
}

/** A table of the timestamps in a parameter of milliseconds. */
const timesIn = (parameter: string): string =>
  `any (array(select to_timestamp(asked.ms / 1000) from unnest(${parameter}::double precision[]) as asked (ms)))`;

const readStatement = statement(
  "read activity",
  `
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
`,
);

export interface EndpointHourRow {
  readonly endpointId: Uuid;
  readonly atMs: number;
  readonly success: number;
  /** Includes deliveries that became dead. */
  readonly failed: number;
}

/** Returns counts per endpoint and hour, from hourly rows and from five-minute rows that are not rolled up yet. */
export async function endpointHours(
  db: Queryable,
  endpointIds: readonly Uuid[],
  times: { readonly rolledUpMs: readonly number[]; readonly fivesMs: readonly number[] },
): Promise<EndpointHourRow[]> {
  return await db.query<EndpointHourRow>(hoursStatement, [
    uuidArray(endpointIds),
    float8Array(times.rolledUpMs),
    float8Array(times.fivesMs),
  ]);
}

const hoursStatement = statement(
  "hours of endpoints",
  `
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
`,
);
