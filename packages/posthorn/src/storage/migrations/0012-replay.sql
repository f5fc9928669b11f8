-- Sending again what was sent before, by a filter: one row per replay, which is also how far it has come.

create table posthorn.replays (
  id uuid primary key,
  -- null: of all tenants
  tenant text references posthorn.tenants (id) on delete cascade,
  endpoint_id uuid,
  type text,
  -- null: it is about events that have no delivery to an endpoint that wants them now
  states text[],
  reason text,
  created_after timestamptz,
  created_before timestamptz,
  -- deliveries a second
  rate integer not null,
  requested_by text,
  -- running, finished or cancelled
  state text not null default 'running',
  -- how many there were when it began; null: too many to count
  total integer,
  done integer not null default 0,
  -- why some were left alone, and how many: {"endpoint_disabled": 3}
  skipped jsonb not null default '{}',
  -- all ids up to this one were looked at; the last one to look at is before the other
  position uuid not null,
  before uuid not null,
  -- the rate is used up until then
  paced_at timestamptz not null,
  created_at timestamptz not null default posthorn.now(),
  ended_at timestamptz
);
create index replays_running on posthorn.replays (id) where state = 'running';
create index replays_of_tenant on posthorn.replays (tenant, id);

-- Few of the finished deliveries are dead, so these cost next to nothing, and nothing for one that succeeds. Without them
-- dead letters are looked for among a million others. A delivery that is dead has a reason, and no other has.
create index deliveries_dead_by_id on posthorn.deliveries (id) where dead_reason is not null;
create index deliveries_dead_by_reason on posthorn.deliveries (dead_reason, id) where dead_reason is not null;

-- The retry queue in the order of next attempts. A delivery that succeeds at once never enters these.
create index queue_retries on posthorn.queue (next_at, id) where claimed_by is null and trigger = 'retry';
create index queue_retries_of_endpoint on posthorn.queue (endpoint_id, next_at, id)
  where claimed_by is null and trigger = 'retry';
