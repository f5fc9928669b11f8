// Records endpoint health. Only the lane's owner may: the lane's row is the fence.
import type { EndpointHealth, Uuid } from "../../../model.ts";
import { float8Array, int4Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface HealthEntry {
  readonly endpointId: Uuid;
  readonly health: EndpointHealth;
}

export async function recordHealth(
  db: Queryable,
  workerId: number,
  { ill, well }: { readonly ill: readonly HealthEntry[]; readonly well: readonly Uuid[] },
): Promise<void> {
  await db.query(recordStatement, [
    workerId,
    uuidArray(well),
    uuidArray(ill.map(({ endpointId }) => endpointId)),
    int4Array(ill.map(({ health }) => health.consecutiveFailures)),
    float8Array(ill.map(({ health }) => health.failingSinceMs)),
    textArray(ill.map(({ health }) => health.lastError)),
    int4Array(ill.map(({ health }) => health.trips)),
    float8Array(ill.map(({ health }) => health.probeAtMs)),
    int4Array(ill.map(({ health }) => health.throttles)),
    float8Array(ill.map(({ health }) => health.throttledUntilMs)),
  ]);
}

const recordStatement = statement(
  "record health",
  `
with recovered as (
  delete from posthorn.endpoint_health h
  where h.endpoint_id = any ($2::uuid[])
    and exists (select from posthorn.lanes l where l.endpoint_id = h.endpoint_id and l.owner = $1::integer)
)
insert into posthorn.endpoint_health (
  endpoint_id, consecutive_failures, failing_since, last_error, trips, probe_at, throttles, throttled_until
)
select said.endpoint_id, said.failures, to_timestamp(said.since_ms / 1000), said.last_error, said.trips,
  to_timestamp(said.probe_ms / 1000), said.throttles, to_timestamp(said.throttled_ms / 1000)
from unnest(
  $3::uuid[], $4::integer[], $5::double precision[], $6::text[], $7::integer[], $8::double precision[],
  $9::integer[], $10::double precision[]
) as said (endpoint_id, failures, since_ms, last_error, trips, probe_ms, throttles, throttled_ms)
where exists (select from posthorn.lanes l where l.endpoint_id = said.endpoint_id and l.owner = $1::integer)
on conflict (endpoint_id) do update
set consecutive_failures = excluded.consecutive_failures,
  failing_since = excluded.failing_since,
  last_error = excluded.last_error,
  trips = excluded.trips,
  probe_at = excluded.probe_at,
  throttles = excluded.throttles,
  throttled_until = excluded.throttled_until
`,
);

/** Deletes the health of an endpoint that was enabled or got another URL. */
export async function deleteHealth(tx: Queryable, endpointId: Uuid): Promise<void> {
  await tx.query(forgetStatement, [endpointId]);
}

const forgetStatement = statement(
  "delete health",
  "delete from posthorn.endpoint_health where endpoint_id = $1::uuid",
);
