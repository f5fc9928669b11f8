-- Replays, charts, incidents and notifications.

-- A replay delivers again what matches a filter. The row is also its progress.
create table posthorn.replays (
  id uuid primary key,
  -- null: all tenants
  tenant text references posthorn.tenants (id) on delete cascade,
  endpoint_id uuid,
  type text,
  -- states of deliveries; null: events without a delivery to an endpoint that would receive them now
  states text[],
  reason text,
  created_after timestamptz,
  created_before timestamptz,
  -- deliveries per second
  rate integer not null,
  requested_by text,
  -- the key, token or portal link it was requested with, and the member: if one is removed before it starts, it is cancelled
  credential_id text,
  user_id text,
  -- requested, key_revoked or member_removed; null: not cancelled
  cancel_reason text,
  -- scheduled, running, finished or cancelled
  state text not null default 'running',
  -- matching deliveries at the start; null: too many to count
  total integer,
  done integer not null default 0,
  -- number of skipped deliveries by reason: {"endpoint_disabled": 3}
  skipped jsonb not null default '{}',
  -- ids up to position are processed; the replay ends at before. Both are decided when it starts
  position uuid not null,
  before uuid not null,
  -- the rate allows the next step at this time
  paced_at timestamptz not null,
  created_at timestamptz not null default posthorn.now(),
  -- null: it started when it was created
  start_at timestamptz,
  -- null: it has not started
  started_at timestamptz,
  ended_at timestamptz
);
create index replays_running on posthorn.replays (id) where state = 'running';
create index replays_scheduled on posthorn.replays (start_at) where state = 'scheduled';
create index replays_of_tenant on posthorn.replays (tenant, id);

-- The deliveries that replays have queued, each with its latest replay and its outcome since. Kept as long as the replay.
create table posthorn.replayed_deliveries (
  delivery_id uuid primary key,
  replay_id uuid not null,
  -- waiting (also while it is sent), failed (it will be retried), delivered or dead
  outcome text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, fillfactor = 80);
create index replayed_deliveries_of_replay on posthorn.replayed_deliveries (replay_id);

-- The number of deliveries of each replay by outcome, so that reading it costs the same for any number of deliveries, and
-- retention does not change it. One row per database session that has changed it, so that sessions do not wait for each
-- other.
create table posthorn.replay_outcomes (
  replay_id uuid not null,
  session integer not null,
  waiting integer not null,
  failed integer not null,
  delivered integer not null,
  dead integer not null,
  -- queued again by a later replay, which counts them from then on
  replayed_again integer not null,
  primary key (replay_id, session)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, fillfactor = 50);

create function posthorn.add_replay_outcome(replay uuid, earlier text, now_known text) returns void
language sql
as $$
  insert into posthorn.replay_outcomes as known (replay_id, session, waiting, failed, delivered, dead, replayed_again)
  values (
    replay,
    pg_backend_pid(),
    (now_known = 'waiting')::integer - (earlier = 'waiting')::integer,
    (now_known = 'failed')::integer - (earlier = 'failed')::integer,
    (now_known = 'delivered')::integer - (earlier = 'delivered')::integer,
    (now_known = 'dead')::integer - (earlier = 'dead')::integer,
    0
  )
  on conflict (replay_id, session) do update
  set waiting = known.waiting + excluded.waiting,
    failed = known.failed + excluded.failed,
    delivered = known.delivered + excluded.delivered,
    dead = known.dead + excluded.dead
$$;

-- Records the outcome of a replayed delivery when it leaves the queue, comes back or is retried, whichever statement does
-- that. Others never call it: the conditions of the triggers cost them less than a microsecond.
create function posthorn.record_replay_outcome() returns trigger
language plpgsql
as $$
declare
  known record;
  outcome_now text;
begin
  if tg_op = 'DELETE' then
    select case d.state when 'success' then 'delivered' else 'dead' end
    into outcome_now
    from posthorn.deliveries d
    where d.id = old.id;
  else
    outcome_now := case new.trigger when 'retry' then 'failed' else 'waiting' end;
  end if;
  update posthorn.replayed_deliveries r
  set outcome = outcome_now
  from (
    select e.delivery_id, e.replay_id, e.outcome
    from posthorn.replayed_deliveries e
    where e.delivery_id = coalesce(old.id, new.id)
    for update
  ) earlier
  where r.delivery_id = earlier.delivery_id
    and earlier.outcome <> outcome_now
  returning earlier.replay_id, earlier.outcome into known;
  if found then
    perform posthorn.add_replay_outcome(known.replay_id, known.outcome, outcome_now);
  end if;
  return null;
end
$$;
create trigger replayed_delivery_ended after delete on posthorn.queue
for each row when (old.replay_count > 0) execute function posthorn.record_replay_outcome();
create trigger replayed_delivery_queued after insert on posthorn.queue
for each row when (new.replay_count > 0) execute function posthorn.record_replay_outcome();
create trigger replayed_delivery_retried after update of trigger on posthorn.queue
for each row when (new.replay_count > 0 and new.trigger <> old.trigger) execute function posthorn.record_replay_outcome();

-- Attempts over time, for charts. Workers count in memory and add to it every few seconds. One row per interval and
-- endpoint, and one per interval for the installation, whose endpoint id is all zeros. The key starts with the time, so
-- new rows are appended, old rows are deleted at the front, and those of an endpoint are looked up by their known times.
create table posthorn.activity (
  -- seconds of the interval: 60, 300 or 3600
  width integer not null,
  at timestamptz not null,
  endpoint_id uuid not null,
  success integer not null,
  failed integer not null,
  dead integer not null,
  -- number of attempts per bucket of observe/latency-histogram.ts
  latency integer[] not null,
  primary key (width, at, endpoint_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, fillfactor = 70);

-- Dead letters and changes of circuits that nobody was notified of yet. Written in the statement that settles the delivery
-- or records the health; the leader turns them into system events and notifications.
create table posthorn.incidents (
  position bigint generated always as identity primary key,
  -- dead, circuit_opened or circuit_recovered
  kind text not null,
  endpoint_id uuid not null,
  -- of a dead letter
  delivery_id uuid,
  event_id uuid,
  -- the reason of a dead letter, or the last error of an opened circuit
  reason text,
  at timestamptz not null default posthorn.now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Notifications about an endpoint, one per kind and channel that is not sent yet. The text is composed when it is sent.
create table posthorn.notifications (
  id uuid primary key default posthorn.uuidv7(posthorn.now()),
  -- disabled, circuit or dead
  kind text not null,
  channel text not null,
  endpoint_id uuid not null references posthorn.endpoints (id) on delete cascade,
  -- when the endpoint was disabled, its circuit opened, or the first counted delivery died
  since timestamptz not null,
  -- dead letters since then
  count integer not null default 1,
  -- addresses that have received it, so that a retry for one address sends no second copy to the others
  notified text[] not null default '{}',
  attempts integer not null default 0,
  -- when it is due; moved to the future while a worker sends it; null: sent or discarded
  next_at timestamptz default posthorn.now(),
  last_error text,
  -- limits notifications of a kind for an endpoint to one per hour
  sent_at timestamptz
);
create unique index notifications_collecting on posthorn.notifications (endpoint_id, kind, channel)
  where attempts = 0 and next_at is not null;
create index notifications_due on posthorn.notifications (channel, next_at) where next_at is not null;
create index notifications_of_endpoint on posthorn.notifications (endpoint_id);

-- Whether the installation delivers: the newest row is in effect. Without one, every process has its start-up setting.
create table posthorn.delivery_modes (
  version integer generated always as identity primary key,
  -- null: the start-up setting
  mode text check (mode in ('on', 'hold', 'drop')),
  since timestamptz not null default posthorn.now(),
  changed_by text,
  note text,
  -- events that endpoints would have received while this row was in effect
  dropped bigint not null default 0
);
