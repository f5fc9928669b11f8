// Reads the gauges of the installation at a bounded cost: lanes with work by their index, and the first queued row of
// each by its own. With 100 lanes: 2 ms at a thousand queued rows, 7 ms at a million.
import type { InstallationGauges } from "../../../observe/metrics.ts";
import { onlyRow } from "../../query.ts";

// Every queued row is in a lane that is owned, paused, or ready no later than the row, so other lanes are not read.
// Times are compared by the milliseconds of a UUIDv7.
export const installationGauges = onlyRow<InstallationGauges>("installation gauges", () => [
  COUNTED_AT_MOST,
  daysLookedAt,
])`
with busy as (
  select l.endpoint_id
  from posthorn.lanes l
  where l.owner is not null
    and not l.paused
  union all
  select l.endpoint_id
  from posthorn.lanes l
  where l.owner is null
    and not l.paused
    and l.ready_at is not null
),
-- a delivery that had to wait is overdue from the time it may be sent again
due as (
  select min(greatest(first.next_at, working.held_until)) as since
  from busy
  join posthorn.endpoint_waits working on working.endpoint_id = busy.endpoint_id
  cross join lateral (
    select q.next_at
    from posthorn.queue q
    where q.endpoint_id = busy.endpoint_id
      and q.claimed_by is null
      and q.next_at <= posthorn.now()
    order by q.next_at
    limit 1
  ) first
  -- half-open: until the circuit closes, a probe is due
  where working.reason is null
    or (working.reason = 'circuit' and working.until is null)
),
counted as (
  select count(*) as queued
  from (select from posthorn.unfinished q limit $1::integer + 1) first_ones
),
estimated as (
  select c.reltuples / greatest(c.relpages, 1)
    * (pg_relation_size(c.oid) / current_setting('block_size')::integer) as queued
  from pg_class c
  where c.oid = 'posthorn.queue'::regclass
),
oldest as (
  select first.id
  from (
    (select q.id from posthorn.unfinished q order by q.id limit 1)
    union all
    (select o.event_id from posthorn.outbox o order by o.event_id limit 1)
    union all
    (select b.event_id from posthorn.pending_batch_events b order by b.event_id limit 1)
    union all
    select null
  ) first
  order by first.id
  limit 1
),
missing as (
  select min(day.ahead) as ahead
  from generate_series(1, $2::integer) as day (ahead)
  cross join unnest(array['events', 'deliveries', 'attempt_log']) as history (name)
  where to_regclass(
      'posthorn.' || history.name || '_'
      || to_char((posthorn.now() at time zone 'UTC')::date + day.ahead, 'YYYYMMDD')
    ) is null
)
select
  case
    when counted.queued <= $1::integer then counted.queued
    else greatest(counted.queued, estimated.queued)
  end::double precision as webhook_queue_depth,
  (
    select count(*)
    from (select from posthorn.outbox o limit $1::integer) first_ones
  )::double precision as webhook_outbox_depth,
  (
    select count(*)
    from (select from posthorn.rejected_events r where r.discarded_at is null limit $1::integer) first_ones
  )::double precision as webhook_rejected_events,
  coalesce(
    greatest(
      posthorn.epoch_ms(posthorn.now()) - posthorn.uuid_ms(oldest.id), 0),
    0) / 1000 as webhook_oldest_undelivered_age_seconds,
  coalesce(
    greatest(posthorn.epoch_ms(posthorn.now()) - posthorn.epoch_ms(due.since), 0),
    0) / 1000 as webhook_oldest_due_age_seconds,
  (
    select coalesce(
      json_agg(
        json_build_object(
          'source', s.name,
          'isRunning', s.state = 'running' and s.seen_at > posthorn.now() - interval '1 minute',
          'lagBytes', s.lag_bytes,
          'lagSeconds', case when s.caught_up_at is not null then
            greatest(extract(epoch from posthorn.now() - s.caught_up_at), 0)
          end
        )
      ), '[]')
    from posthorn.sources s
  ) as sources,
  (
    select count(*)
    from posthorn.workers w
    where w.delivers
      and w.lease_expires_at > posthorn.now()
  )::double precision as webhook_workers,
  (
    select count(*)
    from posthorn.endpoint_health h
    where h.probe_at is not null
  )::double precision as webhook_circuits_open,
  (
    select count(*)
    from posthorn.endpoints ep
    where not ep.is_active
      and ep.deleted_at is null
      and ep.disabled_reason <> 'manual'
  )::double precision as webhook_endpoints_disabled,
  (
    select count(*)
    from posthorn.endpoints ep
    where ep.lease_ends_at > posthorn.now()
      and ep.deleted_at is null
  )::double precision as webhook_websub_subscriptions,
  (coalesce(missing.ahead, $2::integer + 1) - 1)::double precision as webhook_partitions_ahead
from counted
cross join estimated
cross join due
cross join oldest
cross join missing
`;

/**
 * Beyond this number the depth of the queue is the planner's estimate: rows per page at the last vacuum times current
 * pages.
 */
export const COUNTED_AT_MOST = 10_000;
const daysLookedAt = 7;
