-- How endpoints are doing, and what limits them beside the cap.

alter table posthorn.endpoints add column rate_limit integer;

-- Endpoints that have failed since their last success; a healthy one has no row, and costs no write. Written by the
-- owner of the lane, read by the next one: a takeover forgets neither an open circuit nor a throttle.
create table posthorn.endpoint_health (
  endpoint_id uuid primary key references posthorn.endpoints (id) on delete cascade,
  consecutive_failures integer not null,
  failing_since timestamptz,
  last_error text,
  trips integer not null,
  -- null: the circuit is closed; past: half-open
  probe_at timestamptz,
  throttles integer not null,
  throttled_until timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 70);

-- How busy a worker's event loop is, from 0 to 1: a worker under pressure leaves lanes to one that is idle.
alter table posthorn.workers
  add column delivers boolean not null default true,
  add column utilisation real not null default 0;
