// Records endpoint health. Only the lane's owner may: the lane's row is the fence.
import type { EndpointHealth, Uuid } from "../../../model.ts";
import { float8Array, int4Array, textArray, uuidArray } from "../../binary-array.ts";
import { run } from "../../query.ts";

/** `RecordedHealth` of the endpoint with the given id, as JSON, or null. */
export function healthColumn(endpointId: string): string {
  return `(
    select json_build_object(
      'consecutiveFailures', h.consecutive_failures,
      'failingSinceMs', posthorn.epoch_ms(h.failing_since),
      'lastError', h.last_error,
      'trips', h.trips,
      'probeAtMs', posthorn.epoch_ms(h.probe_at),
      'throttles', h.throttles,
      'throttledUntilMs', posthorn.epoch_ms(h.throttled_until),
      'recentFailures', h.recent_failures
    )
    from posthorn.endpoint_health h
    where h.endpoint_id = ${endpointId}
  )`;
}

export interface HealthEntry {
  readonly endpointId: Uuid;
  readonly health: EndpointHealth;
}

export interface RecordedEntries {
  readonly failing: readonly HealthEntry[];
  readonly healthy: readonly Uuid[];
  /** Whether circuits that open or close are reported. */
  readonly reportsCircuits: boolean;
}

// A data-modifying statement sees the rows as they were before it, which reveals what has changed.
export const recordHealth = run<[workerId: number, RecordedEntries]>(
  "record health",
  (workerId, { failing, healthy, reportsCircuits }) => [
    workerId,
    healthy,
    uuidArray(failing.map(({ endpointId }) => endpointId)),
    int4Array(failing.map(({ health }) => health.consecutiveFailures)),
    float8Array(failing.map(({ health }) => health.failingSinceMs)),
    textArray(failing.map(({ health }) => health.lastError)),
    int4Array(failing.map(({ health }) => health.trips)),
    float8Array(failing.map(({ health }) => health.probeAtMs)),
    int4Array(failing.map(({ health }) => health.throttles)),
    float8Array(failing.map(({ health }) => health.throttledUntilMs)),
    reportsCircuits,
    textArray(failing.map(({ health }) => health.recentFailures && JSON.stringify(health.recentFailures))),
  ],
)`
with recovered as (
  delete from posthorn.endpoint_health h
  where h.endpoint_id = any ($2::uuid[])
    and exists (select from posthorn.lanes l where l.endpoint_id = h.endpoint_id and l.owner = $1::integer)
  returning h.endpoint_id, h.probe_at
),
given as (
  select given.endpoint_id, given.failures, to_timestamp(given.since_ms / 1000) as failing_since, given.last_error, given.trips,
    to_timestamp(given.probe_ms / 1000) as probe_at, given.throttles, to_timestamp(given.throttled_ms / 1000) as throttled_until,
    given.recent::jsonb as recent_failures
  from unnest(
    $3::uuid[], $4::integer[], $5::double precision[], $6::text[], $7::integer[], $8::double precision[],
    $9::integer[], $10::double precision[], $12::text[]
  ) as given (endpoint_id, failures, since_ms, last_error, trips, probe_ms, throttles, throttled_ms, recent)
  where exists (select from posthorn.lanes l where l.endpoint_id = given.endpoint_id and l.owner = $1::integer)
),
reported as (
  insert into posthorn.incidents (kind, endpoint_id, reason)
  select 'circuit_recovered', recovered.endpoint_id, null::text
  from recovered
  where $11::boolean
    and recovered.probe_at is not null
  union all
  select case when given.probe_at is null then 'circuit_recovered' else 'circuit_opened' end, given.endpoint_id,
    case when given.probe_at is not null then given.last_error end
  from given
  left join posthorn.endpoint_health before on before.endpoint_id = given.endpoint_id
  where $11::boolean
    and (given.probe_at is null) <> (before.probe_at is null)
)
insert into posthorn.endpoint_health (
  endpoint_id, consecutive_failures, failing_since, last_error, trips, probe_at, throttles, throttled_until, recent_failures
)
select endpoint_id, failures, failing_since, last_error, trips, probe_at, throttles, throttled_until, recent_failures
from given
on conflict (endpoint_id) do update
set consecutive_failures = excluded.consecutive_failures,
  failing_since = excluded.failing_since,
  last_error = excluded.last_error,
  trips = excluded.trips,
  probe_at = excluded.probe_at,
  throttles = excluded.throttles,
  throttled_until = excluded.throttled_until,
  recent_failures = excluded.recent_failures
`;

/** Deletes the health of an endpoint that was enabled or got another URL. */
export const deleteHealth = run<[endpointId: Uuid]>(
  "delete health",
)`delete from posthorn.endpoint_health where endpoint_id = $1::uuid`;
