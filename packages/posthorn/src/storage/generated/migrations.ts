// Generated from storage/migrations/*.sql by scripts/build-migrations.mjs.

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** SHA-256 of the file, in hex. */
  readonly checksum: string;
  /** Written for a schema named posthorn. */
  readonly sql: string;
}

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "foundation",
    checksum: "c43f5d3b940223f93b2a34ad85011e9d26876929d14e82b187f3cce1c987d9e3",
    sql: `-- Functions that every other file uses, and facts about the installation.
-- All migrations are written for a schema named posthorn; the migrator inserts the configured name.

-- The only clock. PostgreSQL inlines it to now(); posthorn/testing replaces it by a clock that tests can move.
create function posthorn.now() returns timestamptz
language sql stable parallel safe
as $$ select now() $$;

-- Ids are UUIDv7. Their first 48 bits are the time, so a range of ids is a range of time: large tables are partitioned
-- by day on their primary key, a lookup by id reads one partition, and old days are dropped instead of deleted.
-- The next 12 bits are the fraction of the millisecond, so that rows created one after another are in that order.
create function posthorn.uuidv7(at timestamptz) returns uuid
language sql volatile parallel safe
as $$
  -- a random v4 UUID whose first 64 bits are replaced by milliseconds, version 7 and fraction
  select encode(
    overlay(
      uuid_send(gen_random_uuid())
      placing int8send((floor(t.ms)::bigint << 16) | x'7000'::bigint | floor((t.ms - floor(t.ms)) * 4096)::bigint)
      from 1 for 8),
    'hex')::uuid
  from (select extract(epoch from at) * 1000 as ms) t
$$;

-- The lowest UUID of a millisecond: the lower bound of a partition.
create function posthorn.lowest_uuid_at(at timestamptz) returns uuid
language sql immutable parallel safe
as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- The time of a UUIDv7 in milliseconds.
create function posthorn.uuid_ms(id uuid) returns double precision
language sql immutable parallel safe
as $$ select ('x' || lpad(replace(left(id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint::double precision $$;

-- Times are returned to the application as milliseconds, so that no session setting changes their format.
create function posthorn.epoch_ms(at timestamptz) returns double precision
language sql immutable parallel safe
as $$ select extract(epoch from at)::double precision * 1000 $$;

-- Facts that are decided once per installation, such as its id.
create table posthorn.metadata (
  name text primary key,
  value text not null
);
`,
  },
  {
    version: 2,
    name: "tenants-and-endpoints",
    checksum: "389578c0b9b15089f8c3a723b1f8019225e54378e383f371f94f6f43d35df992",
    sql: `-- Tenants, their members, and the endpoints they registered.

create table posthorn.tenants (
  id text primary key,
  name text,
  is_active boolean not null default true,
  -- incremented with every change to the tenant's endpoints; publishers compare it with the version of their cached routes
  routing_version bigint not null default 1,
  -- event types that anyone may read and subscribe to through the WebSub hub; null: none
  websub_topics text[],
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now()
);

-- Ids of deleted tenants. Their events, deliveries, idempotency keys and audit entries still exist, so the id cannot be
-- used for another tenant.
create table posthorn.deleted_tenants (
  tenant text primary key,
  deleted_at timestamptz not null default posthorn.now()
);

-- People who belong to a tenant, with their role and the address for notifications.
create table posthorn.members (
  tenant text not null references posthorn.tenants (id) on delete cascade,
  user_id text not null,
  role text not null,
  email text,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now(),
  primary key (tenant, user_id)
);
-- finds the tenants of a user when an event is published for that user
create index members_of_user on posthorn.members (user_id, tenant);

-- A URL that receives events, with its settings. Null in a setting means: the deployment default.
create table posthorn.endpoints (
  id uuid primary key,
  tenant text not null references posthorn.tenants (id),
  url text not null,
  -- null: the host of the URL is shown
  name text,
  description text,
  -- patterns of event types
  events text[] not null,
  -- conditions on the payload; null: none
  filter jsonb,
  is_active boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz,
  format text,
  -- other names of the envelope's fields
  envelope_fields jsonb,
  -- collects events into batches; null: each event is sent alone
  batch jsonb,
  signature jsonb,
  -- where the token in endpoint_secrets is sent; null: there is none
  authorization_type text check (authorization_type in ('bearer', 'query')),
  user_agent text,
  headers jsonb,
  timeout_ms integer,
  max_in_flight integer,
  -- the limit up to which it grows while the endpoint responds fast; null: max_in_flight if that is set, else the
  -- deployment default
  max_in_flight_burst integer,
  -- attempts per second
  rate_limit integer,
  retry_policy jsonb,
  retry_on text,
  circuit_breaker jsonb,
  disable_after jsonb,
  -- fifo or none
  ordering text,
  -- whether a dead delivery holds its subject (hold) or not (pass)
  fifo_on_dead text,
  -- the next four are set for WebSub subscriptions only: the topic URL, the digest of the normalized topic and callback,
  -- the host of the callback, and the end of the lease
  websub_topic text,
  websub_pair bytea,
  websub_host text,
  lease_ends_at timestamptz,
  version bigint not null default 1,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now(),
  -- a deleted endpoint remains while its history refers to it
  deleted_at timestamptz
);
create index endpoints_of_tenant on posthorn.endpoints (tenant, id) where deleted_at is null;
-- counted for the metrics; empty in a healthy installation
create index endpoints_disabled on posthorn.endpoints (id) where not is_active and deleted_at is null;
create unique index endpoints_of_websub_pair on posthorn.endpoints (websub_pair)
  where websub_pair is not null and deleted_at is null;
create index endpoints_of_websub_host on posthorn.endpoints (websub_host)
  where websub_host is not null and deleted_at is null;
create index endpoints_of_lease on posthorn.endpoints (lease_ends_at)
  where lease_ends_at is not null and deleted_at is null;

-- Secrets, encrypted with the key named in key_id. Several are valid at once during a rotation.
create table posthorn.endpoint_secrets (
  id uuid primary key,
  endpoint_id uuid not null references posthorn.endpoints (id) on delete cascade,
  key_id text not null,
  ciphertext bytea not null,
  -- the name of the signature scheme that uses it, such as stripe; null: every scheme without a secret of its own;
  -- authorization: the token that authenticates Posthorn to the receiver
  used_for text,
  created_at timestamptz not null default posthorn.now(),
  expires_at timestamptz
);
create index endpoint_secrets_of_endpoint on posthorn.endpoint_secrets (endpoint_id);

-- Failures, circuit and throttle of endpoints that have failed since their last success (or recently). A healthy endpoint has no row and
-- costs no write. The lane's owner writes it and the next owner reads it, so a takeover keeps an open circuit.
create table posthorn.endpoint_health (
  endpoint_id uuid primary key references posthorn.endpoints (id) on delete cascade,
  consecutive_failures integer not null,
  failing_since timestamptz,
  last_error text,
  -- how often the circuit has opened
  trips integer not null,
  -- null: the circuit is closed; in the future: open; in the past: half-open
  probe_at timestamptz,
  throttles integer not null,
  throttled_until timestamptz,
  -- pairs of a minute since 1970 and its failures, in the last hour, for circuits that count them; outlives a success
  recent_failures jsonb
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 70);

-- Whether an endpoint agreed to receive webhooks ("HTTP 1.1 Web Hooks for Event Delivery" §4). An endpoint without a row
-- needs no handshake; one whose row is not granted receives nothing.
create table posthorn.endpoint_handshakes (
  endpoint_id uuid primary key references posthorn.endpoints (id) on delete cascade,
  origin text not null,
  -- requests per minute; null: no rate was requested, or none was set
  requested_rate integer,
  allowed_rate integer,
  state text not null check (state in ('requesting', 'waiting', 'granted', 'denied')),
  detail text,
  -- part of the URL with which the endpoint can agree later; replaced with every request, so it also identifies the
  -- request that a response belongs to
  callback_token text not null unique,
  attempts integer not null default 0,
  next_at timestamptz,
  asked_at timestamptz,
  decided_at timestamptz
);
create index endpoint_handshakes_due on posthorn.endpoint_handshakes (next_at) where next_at is not null;

-- defaults of endpoints that statements read; of the process that started last
create table posthorn.endpoint_defaults (
  is_only boolean primary key default true check (is_only),
  ordering text not null default 'none',
  fifo_on_dead text not null default 'pass'
);
insert into posthorn.endpoint_defaults default values;
`,
  },
  {
    version: 3,
    name: "events-and-queue",
    checksum: "1cb1114c8c35c365dd408114955fbf8aafbc27f9b797195bf57baae1f35890ef",
    sql: `-- Events, the deliveries that are not finished, and the workers that send them.

-- Committed facts. Only \`claims\` is changed, when a dead letter is deleted. Partitioned by day.
create table posthorn.events (
  id uuid not null,
  tenant text not null,
  type text not null,
  api_version text not null,
  -- the ordering key and the event's number in it; null: no order
  subject text,
  sequence bigint,
  -- bytes, because jsonb reorders keys, rejects \\u0000 and loses 1.0 and large integers; the signed bytes are the stored bytes
  payload bytea not null,
  -- true: an event for one endpoint, of any type, never replayed to another: a test or an edited copy; null: a published
  -- event
  is_test boolean,
  -- the event of which this is an edited copy
  edited_from uuid,
  -- the trace that published the event (W3C traceparent), which later attempts join
  traceparent text,
  -- attributes from its origin, such as a CloudEvent's source, and how to read its data; null: published without them
  attributes jsonb,
  -- A new delivery that its worker sends at once needs no row in the queue: the row of its event claims it. Most deliveries
  -- succeed at the first attempt, and are then written once, as history. A delivery gets its queue row when it is retried,
  -- released or not finished within about a second, and when its worker is reaped.
  -- the worker that claimed deliveries of this event when it stored it; null if there are none
  claimed_by integer,
  -- these deliveries: 32 bytes each, the delivery's id and its endpoint's
  claims bytea,
  primary key (id)
) partition by range (id);
create index events_of_tenant on posthorn.events (tenant, id);

-- Committed events that wait for fan-out: written in the caller's transaction, removed by a worker.
create table posthorn.outbox (
  event_id uuid primary key,
  tenant text,
  -- null if the event has no subject
  subject text,
  sequence bigint,
  -- false: published from SQL, where schemas cannot be checked
  is_checked boolean not null default true
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index outbox_order on posthorn.outbox (tenant, subject, sequence) where subject is not null;

-- Events that a strict catalogue rejected when the relay took them out of the outbox. They have no deliveries. A person
-- releases them, which removes the row, or discards them.
create table posthorn.rejected_events (
  event_id uuid primary key,
  tenant text not null,
  -- the error that the library would have thrown
  code text not null,
  pointer text not null,
  message text not null,
  rejected_at timestamptz not null default posthorn.now(),
  discarded_at timestamptz
);
create index rejected_events_waiting on posthorn.rejected_events (event_id) where discarded_at is null;
create index rejected_events_of_tenant on posthorn.rejected_events (tenant, event_id) where discarded_at is null;

-- One row: until when a worker looks into the outbox every few milliseconds, so that publishers need not notify.
create table posthorn.outbox_watch (
  is_only boolean primary key default true check (is_only),
  ends_at timestamptz not null default '-infinity'
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, fillfactor = 50);
insert into posthorn.outbox_watch default values;

-- Wakes the workers when an event is committed. Deferred to the commit, because a transaction may take longer than the
-- watch. NOTIFY takes a lock that serializes the commits of the whole server: 32 publishers that all notify have a twelfth
-- of their throughput, so nobody notifies while a worker watches the outbox. A transaction that notifies cannot be prepared
-- for a two-phase commit: such publishers set posthorn_outbox.notify to off.
create function posthorn.wake_relay() returns trigger
language plpgsql
as $$
begin
  if (select w.ends_at < clock_timestamp() from posthorn.outbox_watch w)
     and current_setting('posthorn_outbox.notify', true) is distinct from 'off' then
    perform pg_notify(
      'posthorn_' || left(encode(sha256(convert_to(tg_table_schema, 'UTF8')), 'hex'), 8) || '_any', 'outbox');
  end if;
  return null;
end
$$;
create constraint trigger wake_relay after insert on posthorn.outbox
deferrable initially deferred
for each row execute function posthorn.wake_relay();

-- Not partitioned: a unique index on partitions by time could not guarantee one event per key.
create table posthorn.idempotency_keys (
  tenant text not null,
  key text not null,
  event_id uuid not null,
  -- SHA-256 of the event's content, to reject the key for different content
  digest bytea not null,
  created_at timestamptz not null default posthorn.now(),
  primary key (tenant, key)
);
create index idempotency_keys_by_age on posthorn.idempotency_keys (created_at);

-- The last sequence of each subject. A publisher locks the row until its transaction ends, so sequences follow the order
-- of commits and a rollback leaves no gap. Never deleted: receivers remember the sequence they have reached.
create table posthorn.subjects (
  tenant text not null,
  subject text not null,
  last_sequence bigint not null,
  constraint subjects_pkey primary key (tenant, subject)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, fillfactor = 50);

-- A process that sends. The lease is on the worker, and an id is never reused, so \`claimed_by = <my id>\` is a complete fence.
-- Deliveries without a queue row are fenced by \`claims_since\`.
create table posthorn.workers (
  id integer generated always as identity primary key,
  lease_expires_at timestamptz not null,
  -- whether it holds an advisory lock on a connection of its own, which reveals its death before the lease expires
  holds_liveness_lock boolean not null,
  name text not null,
  started_at timestamptz not null default posthorn.now(),
  -- false: it only publishes
  delivers boolean not null default true,
  -- utilization of its event loop from 0 to 1; a busy worker leaves lanes to an idle one
  utilisation real not null default 0,
  -- the number of its lanes at its last heartbeat; a worker with more than its share yields some
  lanes integer not null default 0,
  -- the Unix socket on which it receives deliveries of other processes of its machine; null if it has none
  socket text,
  -- deliveries that events before this one claim for the worker are finished or have a queue row
  claims_since uuid not null default posthorn.lowest_uuid_at(posthorn.now() - interval '1 second')
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, fillfactor = 50);

-- One lane per endpoint. Invariant: the lane of every queue row is owned by a registered worker, or is paused, or has
-- ready_at <= the row's next_at.
create table posthorn.lanes (
  endpoint_id uuid primary key references posthorn.endpoints (id) on delete cascade,
  owner integer,
  ready_at timestamptz,
  paused boolean not null default false,
  -- until when due deliveries wait for the endpoint's own rate or concurrency limit: infinity while they do, later the
  -- time at which that ended. Distinguishes a limited endpoint from an overloaded worker. Written by the owner at most
  -- once a second, only for lanes whose deliveries have waited for a second.
  limited_until timestamptz,
  -- which of the two limits it is, cap or rate_limit; null while due deliveries do not wait for either
  limited_by text check (limited_by in ('cap', 'rate_limit')),
  -- while limited: the deliveries that have been sent for a second. The others that the owner has claimed wait in its
  -- memory. A slow receiver changes it rarely, and with a fast one it is empty, so it is seldom written.
  sending uuid[],
  -- the current limit on attempts in flight, for display; null: max_in_flight. Written by the owner, about every 5 seconds
  -- while it changes.
  in_flight_limit integer
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 70);
create index lanes_ready on posthorn.lanes (ready_at) where owner is null and not paused and ready_at is not null;
create index lanes_owned on posthorn.lanes (owner) where owner is not null;

-- Deliveries that are not finished; small and frequently updated. A row is deleted when its delivery ends.
create table posthorn.queue (
  id uuid primary key,
  event_id uuid not null,
  endpoint_id uuid not null,
  -- infinity: it waits for an earlier delivery of its subject
  next_at timestamptz not null,
  claimed_by integer,
  attempts integer not null default 0,
  failures integer not null default 0,
  replay_count integer not null default 0,
  -- reason for the next attempt: event, retry, manual, replay, test or edited
  trigger text not null default 'event',
  -- start of the retry schedule: the event's time, or that of the last manual retry
  schedule_started_at timestamptz not null,
  -- set only in rows that are delivered in order; the lowest sequence of an endpoint and subject is sent first
  subject text,
  sequence bigint
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, fillfactor = 80);
-- rows that are claimed when they are inserted never enter it
create index queue_due on posthorn.queue (endpoint_id, next_at, id) where claimed_by is null;
create index queue_order on posthorn.queue (endpoint_id, subject, sequence) where subject is not null;
-- Costs 1.1 µs and 82 of 1,960 bytes of WAL per attempt. Without it, a page of a tenant's deliveries and the reaping of a
-- worker would read the backlog of every tenant.
create index queue_in_flight on posthorn.queue (id) where claimed_by is not null;
-- the retry queue by time of the next attempt; a delivery that succeeds at once never enters them
create index queue_retries on posthorn.queue (next_at, id) where claimed_by is null and trigger = 'retry';
create index queue_retries_of_endpoint on posthorn.queue (endpoint_id, next_at, id)
  where claimed_by is null and trigger = 'retry';

-- Dead deliveries that hold all later deliveries of their subject.
create table posthorn.held_subjects (
  endpoint_id uuid not null references posthorn.endpoints (id) on delete cascade,
  subject text not null,
  sequence bigint not null,
  delivery_id uuid not null,
  primary key (endpoint_id, subject, sequence)
);

-- Events that wait until their batch is complete. One transaction turns them into a batch, which is then an event with a
-- delivery like any other.
create table posthorn.pending_batch_events (
  endpoint_id uuid not null,
  position bigint generated always as identity,
  event_id uuid not null,
  -- size in the batch; at most a few bytes too high
  bytes integer not null,
  added_at timestamptz not null default posthorn.now(),
  primary key (endpoint_id, position)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index pending_batch_events_of_event on posthorn.pending_batch_events (event_id);

-- The events of each batch. Deleted with the batch.
create table posthorn.batch_events (
  batch_id uuid not null,
  position integer not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  primary key (batch_id, position)
);
create index batch_events_of_event on posthorn.batch_events (event_id);
`,
  },
  {
    version: 4,
    name: "history-and-retention",
    checksum: "afc19cff16f928272fe72fce2df4cd7ad31be38668d7137b60bcdc149d03626e",
    sql: `-- Finished deliveries, their attempts, and the retention that drops old days.

-- Finished deliveries: success or dead. Partitioned by day. A delivery whose first attempt succeeded contains that attempt,
-- which saves a row with its index entry: 200 bytes of WAL. Columns are ordered by alignment, so rows have no padding.
create table posthorn.deliveries (
  id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  finished_at timestamptz not null,
  -- the contained attempt, with the columns of attempt_log; null: its attempts are in attempt_log
  started_at timestamptz,
  attempts integer not null,
  replay_count integer not null,
  worker integer,
  duration_ms integer,
  connect_ms integer,
  tls_ms integer,
  first_byte_ms integer,
  status_code smallint,
  state text not null,
  -- set if and only if the state is dead
  dead_reason text,
  response_body bytea,
  primary key (id)
) partition by range (id);
create index deliveries_of_endpoint on posthorn.deliveries (endpoint_id, id);
-- Few deliveries are dead, so these three cost little, and nothing for a delivery that succeeds.
create index deliveries_dead on posthorn.deliveries (endpoint_id, id) where state = 'dead';
create index deliveries_dead_by_id on posthorn.deliveries (id) where dead_reason is not null;
create index deliveries_dead_by_reason on posthorn.deliveries (dead_reason, id) where dead_reason is not null;

-- HTTP requests of finished and unfinished deliveries, except first attempts that succeeded. Read them from the view
-- posthorn.attempts, which has all. Partitioned by day of the delivery.
create table posthorn.attempt_log (
  delivery_id uuid not null,
  number integer not null,
  started_at timestamptz,
  duration_ms integer,
  status_code smallint,
  error text,
  response_body bytea,
  next_retry_at timestamptz,
  trigger text not null,
  worker integer not null,
  -- phases of duration_ms; the rest is the response body. Null: the phase did not take place, as on an open connection.
  connect_ms integer,
  tls_ms integer,
  first_byte_ms integer,
  primary key (delivery_id, number)
) partition by range (delivery_id);
-- few attempts are manual or replays; all others never enter it
create index attempts_resent on posthorn.attempt_log (started_at, delivery_id) where trigger in ('manual', 'replay');

-- Rows whose day has no partition go here, so late maintenance never rejects a write.
create table posthorn.events_default partition of posthorn.events default;
create table posthorn.deliveries_default partition of posthorn.deliveries default;
create table posthorn.attempt_log_default partition of posthorn.attempt_log default;

-- Every attempt.
create view posthorn.attempts as
select
  a.delivery_id,
  a.number,
  a.started_at,
  a.duration_ms,
  a.status_code,
  a.error,
  a.response_body,
  a.next_retry_at,
  a.trigger,
  a.worker,
  a.connect_ms,
  a.tls_ms,
  a.first_byte_ms
from posthorn.attempt_log a
union all
select
  d.id,
  1,
  d.started_at,
  d.duration_ms,
  d.status_code,
  null::text,
  d.response_body,
  null::timestamptz,
  'event'::text,
  d.worker,
  d.connect_ms,
  d.tls_ms,
  d.first_byte_ms
from posthorn.deliveries d
where d.started_at is not null;

-- Whether a queued delivery was attempted without failing and is scheduled for later because its receiver asked for that.
create function posthorn.is_deferred(attempts integer, next_at timestamptz) returns boolean
language sql stable
as $$ select attempts > 0 and next_at > posthorn.now() and next_at < 'infinity' $$;

-- The deliveries that an event claims.
create function posthorn.read_claims(claims bytea) returns table (id uuid, endpoint_id uuid)
language sql immutable parallel safe rows 1
as $$
  select encode(substr(claims, 32 * n + 1, 16), 'hex')::uuid, encode(substr(claims, 32 * n + 17, 16), 'hex')::uuid
  from generate_series(0, length(claims) / 32 - 1) as n
$$;

-- Unfinished deliveries without a queue row, of events from \`low\` to \`high\`. Reads events of the last seconds, and their
-- deliveries, whose ids have the same time: 40 ms for 15,000 events. Uses dynamic SQL and no sequential scans, because a
-- generic plan, or one without statistics of the day, would read the whole day.
create function posthorn.event_claims(low uuid, high uuid)
returns table (id uuid, event_id uuid, endpoint_id uuid, claimed_by integer)
language plpgsql stable rows 10
set enable_seqscan = off
as $$
declare
  since uuid := (select w.claims_since from posthorn.workers w where w.delivers order by w.claims_since limit 1);
begin
  since := greatest(since, low);
  return query execute $sql$
    select claim.id, e.id, claim.endpoint_id, e.claimed_by
    from posthorn.events e
    join posthorn.workers w on w.id = e.claimed_by and w.claims_since <= e.id
    cross join lateral posthorn.read_claims(e.claims) claim
    where e.id >= $1
      and e.id <= $3
      and e.claims is not null
      and not exists (select from posthorn.deliveries d where d.id = claim.id and d.id >= $2)
      and not exists (select from posthorn.queue q where q.id = claim.id and q.id >= $2)
  $sql$
  using since, posthorn.lowest_uuid_at(to_timestamp(posthorn.uuid_ms(since) / 1000)), high;
end
$$;

create function posthorn.event_claims()
returns table (id uuid, event_id uuid, endpoint_id uuid, claimed_by integer)
language sql stable rows 10
as $$
  select c.id, c.event_id, c.endpoint_id, c.claimed_by
  from posthorn.event_claims('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff') c
$$;

-- Every unfinished delivery, with or without a queue row.
create view posthorn.unfinished as
select q.id, q.event_id, q.endpoint_id, q.next_at, q.claimed_by, q.attempts, q.failures, q.replay_count, q.trigger,
  q.schedule_started_at, q.subject, q.sequence
from posthorn.queue q
union all
select c.id, c.event_id, c.endpoint_id, to_timestamp(posthorn.uuid_ms(c.event_id) / 1000), c.claimed_by, 0, 0, 0, 'event'::text,
  to_timestamp(posthorn.uuid_ms(c.event_id) / 1000), null::text, null::bigint
from posthorn.event_claims() c;

-- The state of every delivery with a row, from the queue and from history.
create view posthorn.recorded_states as
select
  q.id,
  q.event_id,
  q.endpoint_id,
  case
    when q.claimed_by is not null then 'in_flight'
    when q.failures > 0 or posthorn.is_deferred(q.attempts, q.next_at) then 'failed'
    else 'pending'
  end as state,
  q.attempts,
  null::text as dead_reason,
  q.replay_count,
  null::timestamptz as finished_at
from posthorn.queue q
union all
select
  d.id,
  d.event_id,
  d.endpoint_id,
  d.state,
  d.attempts,
  d.dead_reason,
  d.replay_count,
  d.finished_at
from posthorn.deliveries d;

-- The states of these deliveries. Cheaper than the view below: a delivery's id has the time of its event, so only events of
-- these milliseconds are read.
create function posthorn.delivery_states_of(ids uuid[]) returns setof posthorn.recorded_states
language sql stable rows 10
as $$
  select c.id, c.event_id, c.endpoint_id, 'in_flight', 0, null::text, 0, null::timestamptz
  from (
    select
      posthorn.lowest_uuid_at(to_timestamp(min(posthorn.uuid_ms(i)) / 1000)) as low,
      posthorn.lowest_uuid_at(to_timestamp((max(posthorn.uuid_ms(i)) + 1) / 1000)) as high
    from unnest(ids) as i
  ) range
  cross join lateral posthorn.event_claims(range.low, range.high) c
  where c.id = any (ids)
  union all
  select r.id, r.event_id, r.endpoint_id, r.state, r.attempts, r.dead_reason, r.replay_count, r.finished_at
  from posthorn.recorded_states r
  where r.id = any (ids)
$$;

-- The states of the deliveries of these events, up to \`most\` for the events of a millisecond. Their ids have the same time,
-- so one index range per millisecond has them all, however many endpoints there are. The planner expects too many rows in
-- such a range: it would read whole days, and compile the statement.
create function posthorn.delivery_states_of_events(ids uuid[], most integer) returns table (event_id uuid, state text)
language sql stable rows 100
set enable_seqscan = off
set jit = off
as $$
  with time as (
    select distinct posthorn.uuid_ms(i) as ms
    from unnest(ids) as i
  )
  select found.event_id, found.state
  from time
  cross join lateral (
    select r.event_id, r.state
    from posthorn.recorded_states r
    where r.id >= posthorn.lowest_uuid_at(to_timestamp(time.ms / 1000))
      and r.id < posthorn.lowest_uuid_at(to_timestamp((time.ms + 1) / 1000))
      and r.event_id = any (ids)
    limit most
  ) found
  union all
  select c.event_id, 'in_flight'
  from (
    select
      posthorn.lowest_uuid_at(to_timestamp(min(time.ms) / 1000)) as low,
      posthorn.lowest_uuid_at(to_timestamp((max(time.ms) + 1) / 1000)) as high
    from time
  ) page
  cross join lateral posthorn.event_claims(page.low, page.high) c
  where c.event_id = any (ids)
$$;

-- The state of every delivery.
create view posthorn.delivery_states as
select r.id, r.event_id, r.endpoint_id, r.state, r.attempts, r.dead_reason, r.replay_count, r.finished_at
from posthorn.recorded_states r
union all
select c.id, c.event_id, c.endpoint_id, 'in_flight'::text, 0, null::text, 0, null::timestamptz
from posthorn.event_claims() c;

-- What the due deliveries of an endpoint wait for, and until when. The reason is null if they are sent as soon as a worker
-- has a free slot; the time is null if it is not known.
create view posthorn.endpoint_waits as
select
  ep.id as endpoint_id,
  case
    when not t.is_active then 'tenant_off'
    when not ep.is_active then 'endpoint_disabled'
    when hs.endpoint_id is not null then 'handshake'
    -- of several times the last one counts
    when timed.until > posthorn.now() and timed.until = h.throttled_until then 'rate_limit'
    -- also half-open, when they wait for the probe in flight
    when h.probe_at is not null then 'circuit'
    when w.id is not null then l.limited_by
  end as reason,
  case
    when t.is_active and ep.is_active and hs.endpoint_id is null and timed.until > posthorn.now() then timed.until
  end as until,
  -- when the last of these waits ended or ends; null if there was none lately
  greatest(timed.until, case when w.id is not null then l.limited_until end) as held_until,
  -- what a dead owner recorded no longer holds
  case when l.limited_by is not null then w.id end as limited_by_worker,
  l.sending
from posthorn.endpoints ep
join posthorn.tenants t on t.id = ep.tenant
left join posthorn.endpoint_handshakes hs on hs.endpoint_id = ep.id and hs.state <> 'granted'
left join posthorn.endpoint_health h on h.endpoint_id = ep.id
left join posthorn.lanes l on l.endpoint_id = ep.id
left join posthorn.workers w on w.id = l.owner and w.lease_expires_at > posthorn.now()
cross join lateral (select greatest(h.probe_at, h.throttled_until) as until) timed;

-- What each delivery that is neither finished nor being sent waits for, and until when. A claimed delivery waits if its
-- lane is limited and does not list it as being sent. The reason is null if it is due and sent as soon as a worker has a
-- free slot; the time is null if it is not known. This is the only place that decides it: API, command line and dashboard
-- show what it returns.
create view posthorn.waits as
select
  q.id as delivery_id,
  case
    when ep.reason in ('tenant_off', 'endpoint_disabled', 'handshake') then ep.reason
    -- also one that no fetch has parked yet
    when q.next_at = 'infinity' or blocked.id is not null then 'ordering'
    when q.next_at > posthorn.now() and q.next_at >= coalesce(ep.until, q.next_at) then 'retry_delay'
    else ep.reason
  end as reason,
  case
    when ep.reason in ('tenant_off', 'endpoint_disabled', 'handshake') or q.next_at = 'infinity' or blocked.id is not null then null
    when greatest(q.next_at, ep.until) > posthorn.now() then greatest(q.next_at, ep.until)
  end as until,
  blocked.id as blocked_by,
  -- since when it should have been sent, or its endpoint probed; null while it has to wait
  case
    when (ep.reason is null or ep.reason = 'circuit' and ep.until is null)
      and blocked.id is null
      and q.next_at <= posthorn.now()
    then greatest(q.next_at, ep.held_until)
  end as due_since
from posthorn.queue q
join posthorn.endpoint_waits ep on ep.endpoint_id = q.endpoint_id
-- the earlier delivery of its subject: queued, or dead and holding the subject
left join lateral (
  select earlier.id
  from (
    (
      select o.id, o.sequence
      from posthorn.queue o
      where o.endpoint_id = q.endpoint_id
        and o.subject = q.subject
        and o.sequence < q.sequence
      order by o.sequence
      limit 1
    )
    union all
    (
      select dead.delivery_id, dead.sequence
      from posthorn.held_subjects dead
      where dead.endpoint_id = q.endpoint_id
        and dead.subject = q.subject
        and dead.sequence < q.sequence
      order by dead.sequence
      limit 1
    )
  ) earlier
  order by earlier.sequence
  limit 1
) blocked on q.subject is not null and q.claimed_by is null
where q.claimed_by is null or (q.claimed_by = ep.limited_by_worker and q.id <> all (ep.sending));

-- The worker that runs maintenance. A row instead of an advisory lock, so that it works behind a transaction pooler.
create table posthorn.leadership (
  role text primary key,
  worker_id integer,
  expires_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, fillfactor = 50);
insert into posthorn.leadership (role, expires_at) values ('maintenance', '-infinity');

-- Creates the missing partitions of first_day to last_day and returns their number. Each is created first and attached
-- afterwards: "create table … partition of" would lock the parent against every reader.
create function posthorn.ensure_partitions(first_day date, last_day date) returns integer
language plpgsql
as $$
declare
  parent text;
  day date;
  partition text;
  lower_bound uuid;
  upper_bound uuid;
  is_in_default boolean;
  created integer := 0;
begin
  foreach parent in array array['events', 'deliveries', 'attempt_log'] loop
    for day in select generate_series(first_day, last_day, interval '1 day')::date loop
      partition := parent || '_' || to_char(day, 'YYYYMMDD');
      continue when to_regclass(format('posthorn.%I', partition)) is not null;
      lower_bound := posthorn.lowest_uuid_at(day::timestamp at time zone 'UTC');
      upper_bound := posthorn.lowest_uuid_at((day + 1)::timestamp at time zone 'UTC');
      -- An index lookup. Attaching would read the whole default partition under a lock to find the same.
      execute format(
        'select exists (select from posthorn.%I where %2$I >= $1 and %2$I < $2)',
        parent || '_default', case parent when 'attempt_log' then 'delivery_id' else 'id' end)
        into is_in_default
        using lower_bound, upper_bound;
      continue when is_in_default;
      begin
        execute format('create table posthorn.%I (like posthorn.%I including all)', partition, parent);
        execute format(
          'alter table posthorn.%I attach partition posthorn.%I for values from (%L) to (%L)',
          parent, partition, lower_bound, upper_bound);
        created := created + 1;
      exception when check_violation then
        -- a row of this day was just inserted into the default partition, where the day then remains
        null;
      end;
    end loop;
  end loop;
  return created;
end
$$;

-- Every attached partition except the default ones.
create function posthorn.history_partitions()
returns table (parent text, name text, lower_bound uuid, upper_bound uuid, is_kept boolean)
language sql stable
as $$
  select p.relname::text, c.relname::text, bounds[1]::uuid, bounds[2]::uuid, c.relname like '%\\_kept'
  from pg_inherits i
  join pg_class p on p.oid = i.inhparent
  join pg_class c on c.oid = i.inhrelid
  cross join regexp_match(
    pg_get_expr(c.relpartbound, c.oid),
    '^FOR VALUES FROM \\(''([0-9a-f-]{36})''\\) TO \\(''([0-9a-f-]{36})''\\)$') as bounds
  where i.inhparent in ('posthorn.events'::regclass, 'posthorn.deliveries'::regclass, 'posthorn.attempt_log'::regclass)
    and bounds is not null
$$;

-- Retention replaces a day that is older than the retention period instead of deleting its rows. Dead letters, unfinished
-- deliveries, and the events and attempts of both are kept: they are copied to a small table of the same range whose name
-- ends in _kept, without locking the day, and that table takes its place in a short transaction. When all days of a month
-- are such tables, one table replaces them in the same three steps, so years of dead letters need few partitions.

-- Step 1: creates the table. A table left by a crash is reused, because the next steps compare every row, unless a
-- migration has changed the parent's columns.
create function posthorn.stage_kept(parent text, target text, lower_bound uuid, upper_bound uuid) returns void
language plpgsql
as $$
declare
  known oid := to_regclass(format('posthorn.%I', target));
begin
  if known is not null then
    if (select c.relispartition from pg_class c where c.oid = known) then
      raise exception 'posthorn.% is already attached', target;
    end if;
    if posthorn.columns_of(known) = posthorn.columns_of(format('posthorn.%I', parent)::regclass) then
      return;
    end if;
    execute format('drop table posthorn.%I', target);
  end if;
  execute format('create table posthorn.%I (like posthorn.%I including all)', target, parent);
  -- with this constraint attaching does not read the table; with autovacuum off nothing else locks it then
  execute format(
    'alter table posthorn.%1$I add constraint in_range check (%2$I >= %3$L and %2$I < %4$L)',
    target, case parent when 'attempt_log' then 'delivery_id' else 'id' end, lower_bound, upper_bound);
  execute format('alter table posthorn.%I set (autovacuum_enabled = false)', target);
end
$$;

create function posthorn.columns_of(relation oid) returns text
language sql stable
as $$
  select string_agg(format('%s %s', a.attname, a.atttypid), ',' order by a.attnum)
  from pg_attribute a
  where a.attrelid = relation
    and a.attnum > 0
    and not a.attisdropped
$$;

-- Step 2, repeated until it returns 0: copies what must be kept, for at most max_rows deliveries or events, and returns the
-- number of copied rows. Dead deliveries are kept; from a _kept table, deliveries in any state. Attempts are kept with
-- their finished or queued delivery. Events are kept for a kept or queued delivery, the outbox, a pending batch, or until a
-- person decides about a rejected one. The
-- order deliveries, attempts, events guarantees that no delivery loses its event.
create function posthorn.copy_kept(parent text, target text, lower_bound uuid, upper_bound uuid, max_rows integer) returns integer
language plpgsql
as $$
declare
  kept text := 'true';
  copied integer;
begin
  if parent = 'deliveries' then
    if exists (
      select
      from posthorn.history_partitions() p
      where p.parent = 'deliveries'
        and p.lower_bound >= copy_kept.lower_bound
        and p.upper_bound <= copy_kept.upper_bound
        and not p.is_kept
    ) then
      -- uses the index on dead deliveries; the rest of the day is not read
      kept := $sql$d.state = 'dead'$sql$;
    end if;
    -- removes copies of deliveries that were retried since
    execute format(
      $sql$
        delete from posthorn.%I t
        where not exists (
          select
          from posthorn.deliveries d
          where d.id = t.id
            and d.id >= $1
            and d.id < $2
            and %s
            and d.attempts = t.attempts
            and d.replay_count = t.replay_count
            and d.finished_at = t.finished_at
        )
      $sql$, target, kept)
      using lower_bound, upper_bound;
    execute format(
      $sql$
        insert into posthorn.%1$I
        select d.*
        from posthorn.deliveries d
        where d.id >= $1
          and d.id < $2
          and %2$s
          and not exists (select from posthorn.%1$I t where t.id = d.id)
        limit $3
      $sql$, target, kept)
      using lower_bound, upper_bound, max_rows;
  elsif parent = 'attempt_log' then
    execute format(
      $sql$
        insert into posthorn.%1$I
        select a.*
        from posthorn.attempt_log a
        where a.delivery_id = any (array(
            select d.id
            from (
              select d.id, d.attempts
              from posthorn.deliveries d
              where d.id >= $1
                and d.id < $2
                and d.started_at is null
              union all
              select q.id, q.attempts
              from posthorn.queue q
              where q.id >= $1
                and q.id < $2
            ) d
            left join (
              select t.delivery_id, count(*) as attempts
              from posthorn.%1$I t
              group by t.delivery_id
            ) t on t.delivery_id = d.id
            where d.attempts > coalesce(t.attempts, 0)
            limit $3
          ))
        on conflict do nothing
      $sql$, target)
      using lower_bound, upper_bound, max_rows;
  else
    execute format(
      $sql$
        insert into posthorn.%1$I
        select e.*
        from posthorn.events e
        where e.id = any (array(
            (
              select d.event_id
              from posthorn.deliveries d
              where d.id >= $1
                and d.id < $2
              union
              select q.event_id
              from posthorn.queue q
              where q.id >= $1
                and q.id < $2
              union
              select o.event_id
              from posthorn.outbox o
              where o.event_id >= $1
                and o.event_id < $2
              union
              select r.event_id
              from posthorn.rejected_events r
              where r.event_id >= $1
                and r.event_id < $2
                and r.discarded_at is null
              union
              select c.event_id
              from posthorn.pending_batch_events c
              where c.event_id >= $1
                and c.event_id < $2
            )
            except
            select t.id
            from posthorn.%1$I t
            limit $3
          ))
      $sql$, target)
      using lower_bound, upper_bound, max_rows;
  end if;
  get diagnostics copied = row_count;
  return copied;
end
$$;

-- Step 3: the table takes the place of every partition in its range, which are dropped with their other rows. Returns the
-- number of dropped partitions. The lock blocks everyone, so the caller sets lock_timeout and statement_timeout; on a
-- timeout nothing has changed.
create function posthorn.swap_kept(parent text, target text, lower_bound uuid, upper_bound uuid) returns integer
language plpgsql
as $$
declare
  id_column text := case parent when 'attempt_log' then 'delivery_id' else 'id' end;
  default_partition text := parent || '_default';
  source text;
  sources text[];
  has_rows boolean;
begin
  -- the parent first, in the lock order of every reader and writer
  execute format('lock table only posthorn.%I in access exclusive mode', parent);
  -- another leader has already attached it
  if (select c.relispartition from pg_class c where c.oid = format('posthorn.%I', target)::regclass) then
    return 0;
  end if;
  select array_agg(p.name order by p.name) into sources
  from posthorn.history_partitions() p
  where p.parent = swap_kept.parent
    and p.lower_bound >= swap_kept.lower_bound
    and p.upper_bound <= swap_kept.upper_bound;
  perform posthorn.copy_kept(parent, target, lower_bound, upper_bound, null);
  -- the copied rows include those of the default partition
  execute format('delete from posthorn.%I where %2$I >= $1 and %2$I < $2', default_partition, id_column)
    using lower_bound, upper_bound;
  foreach source in array coalesce(sources, '{}') loop
    execute format('drop table posthorn.%I', source);
  end loop;
  execute format('select exists (select from posthorn.%I)', target) into has_rows;
  if has_rows then
    execute format(
      'alter table posthorn.%I attach partition posthorn.%I for values from (%L) to (%L)',
      parent, target, lower_bound, upper_bound);
    execute format('alter table posthorn.%I drop constraint in_range', target);
    execute format('alter table posthorn.%I reset (autovacuum_enabled)', target);
  else
    execute format('drop table posthorn.%I', target);
  end if;
  return coalesce(cardinality(sources), 0);
end
$$;
`,
  },
  {
    version: 5,
    name: "publishing",
    checksum: "7de24eb76717ee64c8e5b8ec2db36a0ff02f3741ad1c77759d6ff9a60cd59493",
    sql: `-- The catalogue of event types, and publishing from SQL.

-- Registered event types.
create table posthorn.event_types (
  name text not null,
  api_version text not null,
  description text,
  -- JSON text as it was registered: jsonb would reorder keys and lose 1.0
  schema text,
  example text,
  -- JSON Pointers of redacted values; * matches every item or member
  redact text[] not null default '{}',
  is_deprecated boolean not null default false,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now(),
  -- since when it has had a schema; kept if that is removed, because events since then are sent with its URL
  schema_since timestamptz,
  -- a deleted type still redacts the events that were published with it
  deleted_at timestamptz,
  primary key (name, api_version)
);

-- One row. Every change of a type increments the version, which every process polls twice a second.
create table posthorn.catalogue (
  is_only boolean primary key default true check (is_only),
  version bigint not null default 1,
  -- the mode of the process that started last; posthorn.publish has no options
  mode text not null default 'auto' check (mode in ('auto', 'strict', 'open')),
  -- derived from the mode and from whether types are registered
  is_strict boolean not null default false,
  -- of events that name none; from the same process as the mode
  api_version text not null default '1'
);
insert into posthorn.catalogue default values;

-- Returns how deep arrays and objects are nested in valid JSON text: removes strings, then counts brackets.
create function posthorn.json_depth(data text) returns integer
language sql immutable parallel safe
as $$
  select coalesce(max(depth), 0)::integer
  from (
    select sum(case when bracket in ('{', '[') then 1 else -1 end) over (order by place) as depth
    from regexp_split_to_table(
      regexp_replace(regexp_replace(data, '"(\\\\.|[^"\\\\])*"', '', 'g'), '[^][{}]', '', 'g'), ''
    ) with ordinality as t (bracket, place)
    where bracket <> ''
  ) depths
$$;

-- Writes an event in the caller's transaction: it exists if and only if that transaction commits. Returns the event id as
-- text, because some clients cannot read void or a row. Raises SQLSTATE PH422 for invalid arguments; the hint is the error
-- code and the message says what to do. An event with a subject locks the subject until the caller's transaction ends.
-- is_checked: the library has checked it against the catalogue, and its idempotency key. Keys of sources begin with a
-- control character, so that no other publisher can use them.
create function posthorn.write_event(
  tenant text,
  type text,
  data text,
  subject text,
  api_version text,
  idempotency_key text,
  id text,
  traceparent text,
  attributes jsonb,
  is_checked boolean
) returns text
language plpgsql
as $$
declare
  event_id uuid;
  event_sequence bigint;
  payload bytea := convert_to(write_event.data, 'UTF8');
  body_digest bytea;
  known record;
  catalogue record;
begin
  select c.api_version, c.is_strict into strict catalogue from posthorn.catalogue c;
  write_event.api_version := coalesce(write_event.api_version, catalogue.api_version);
  if write_event.tenant is null or write_event.tenant !~ '^[A-Za-z0-9_.:@-]{1,128}$' then
    raise exception 'posthorn.publish: tenant must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ -'
      using errcode = 'PH422', hint = 'invalid_tenant';
  end if;
  if write_event.type is null or length(write_event.type) > 128
     or write_event.type !~ '^[a-z0-9_]+(\\.[a-z0-9_]+)*$' then
    raise exception 'posthorn.publish: type must be lower-case words joined by dots, such as order.paid, at most 128 characters'
      using errcode = 'PH422', hint = 'invalid_type';
  end if;
  if write_event.type like 'webhook.%' then
    raise exception 'posthorn.publish: types that begin with webhook. are Posthorn''s own; give the event another type'
      using errcode = 'PH422', hint = 'invalid_type';
  end if;
  if write_event.data is null then
    raise exception 'posthorn.publish: data is missing; pass JSON text, and null as ''null'''
      using errcode = 'PH422', hint = 'invalid_data';
  end if;
  if octet_length(payload) > 262144 then
    raise exception 'posthorn.publish: data has % bytes; the limit is 262144. Send a reference instead of the content', octet_length(payload)
      using errcode = 'PH422', hint = 'payload_too_large';
  end if;
  begin
    perform write_event.data::json;
  exception
    when invalid_text_representation then
      raise exception 'posthorn.publish: data is not valid JSON: %', sqlerrm
        using errcode = 'PH422', hint = 'invalid_data';
    when statement_too_complex then
      -- thousands of levels exceed the stack of the parser
      raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
        using errcode = 'PH422', hint = 'payload_too_deep';
  end;
  -- counting brackets is cheap; the depth is computed only if there are many
  if length(write_event.data) - length(translate(write_event.data, '{[', '')) > 64
     and posthorn.json_depth(write_event.data) > 64 then
    raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
      using errcode = 'PH422', hint = 'payload_too_deep';
  end if;
  if length(write_event.subject) not between 1 and 256 or write_event.subject ~ '[\\u0001-\\u001f\\u007f-\\u009f]' then
    raise exception 'posthorn.publish: subject must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_subject';
  end if;
  if write_event.api_version !~ '^[A-Za-z0-9_.-]{1,32}$' then
    raise exception 'posthorn.publish: api_version must be 1 to 32 characters of A-Z a-z 0-9 _ . -'
      using errcode = 'PH422', hint = 'invalid_api_version';
  end if;
  if not write_event.is_checked
     and (length(write_event.idempotency_key) not between 1 and 256
       or write_event.idempotency_key ~ '[\\u0001-\\u001f\\u007f-\\u009f]') then
    raise exception 'posthorn.publish: idempotency_key must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_idempotency_key';
  end if;
  -- The relay checks the schema, because PostgreSQL has no validator.
  if not write_event.is_checked
     and catalogue.is_strict
     and not exists (
       select from posthorn.event_types t
       where t.name = write_event.type
         and t.api_version = write_event.api_version
         and t.deleted_at is null
     ) then
    raise exception 'posthorn.publish: the catalogue has no type % of api_version %; register it first', write_event.type, write_event.api_version
      using errcode = 'PH422', hint = 'unknown_type';
  end if;
  if write_event.id is not null
     and write_event.id !~ '^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' then
    raise exception 'posthorn.publish: id must be evt_ and a UUIDv7; omit it to have one generated'
      using errcode = 'PH422', hint = 'invalid_id';
  end if;
  event_id := coalesce(substring(write_event.id from 5)::uuid, posthorn.uuidv7(posthorn.now()));
  -- Ids are times, and everything that is newest or due relies on them. A transaction may be older than its events.
  if write_event.id is not null
     and event_id >= posthorn.lowest_uuid_at(posthorn.now() + (clock_timestamp() - now()) + interval '1 minute') then
    raise exception 'posthorn.publish: the time in id is more than a minute ahead of the database; omit it to have one generated'
      using errcode = 'PH422', hint = 'invalid_id';
  end if;

  if write_event.idempotency_key is not null then
    body_digest := sha256(
      convert_to(write_event.type || E'\\n' || write_event.api_version || E'\\n' || coalesce(write_event.subject, '') || E'\\n', 'UTF8')
      || payload);
    insert into posthorn.idempotency_keys (tenant, key, event_id, digest)
    values (write_event.tenant, write_event.idempotency_key, event_id, body_digest)
    on conflict do nothing;
    if not found then
      select k.event_id, k.digest into strict known
      from posthorn.idempotency_keys k
      where k.tenant = write_event.tenant and k.key = write_event.idempotency_key;
      if known.digest <> body_digest then
        raise exception 'posthorn.publish: idempotency key "%" was used for another event (evt_%); use a new key for new content',
          write_event.idempotency_key, known.event_id
          using errcode = 'PH422', hint = 'idempotency_conflict';
      end if;
      return 'evt_' || known.event_id;
    end if;
  end if;

  -- after the idempotency key, so that a duplicate uses no number
  if write_event.subject is not null then
    insert into posthorn.subjects as s (tenant, subject, last_sequence)
    values (write_event.tenant, write_event.subject, 1)
    on conflict on constraint subjects_pkey do update
    set last_sequence = s.last_sequence + 1
    returning s.last_sequence into event_sequence;
  end if;

  insert into posthorn.events
    (id, tenant, type, api_version, subject, sequence, payload, traceparent, attributes)
  values (
    event_id, write_event.tenant, write_event.type, write_event.api_version, write_event.subject, event_sequence, payload,
    write_event.traceparent, write_event.attributes
  );
  insert into posthorn.outbox (event_id, tenant, subject, sequence, is_checked)
  values (event_id, write_event.tenant, write_event.subject, event_sequence, write_event.is_checked);
  return 'evt_' || event_id;
end
$$;

-- Publishes an event in the caller's transaction, see write_event. Publishers in every language call this function and the
-- three below it.
create function posthorn.publish(
  tenant text,
  type text,
  data text,
  subject text default null,
  api_version text default null,
  idempotency_key text default null,
  id text default null,
  traceparent text default null
) returns text
language sql
as $$
  select posthorn.write_event(
    tenant, type, data, subject, api_version, idempotency_key, id, traceparent, null, false
  )
$$;

-- For jsonb data. The payload has the key order of PostgreSQL.
create function posthorn.publish(
  tenant text,
  type text,
  data jsonb,
  subject text default null,
  api_version text default null,
  idempotency_key text default null,
  id text default null,
  traceparent text default null
) returns text
language sql
as $$
  select posthorn.publish(tenant, type, data::text, subject, api_version, idempotency_key, id, traceparent)
$$;

-- Returns whether the current transaction already had an id, and assigns one if not. In a transaction the second call
-- therefore returns true; a statement that is committed on its own gets false each time. PostgreSQL has no function that
-- reports a transaction block. Volatile, so that the planner never calls it.
create function posthorn.continues_transaction() returns boolean
language plpgsql volatile
as $$
declare
  had_id boolean := pg_current_xact_id_if_assigned() is not null;
begin
  perform pg_current_xact_id();
  return had_id;
end
$$;

-- Returns the sequence of an event that was just published: select posthorn.sequence_of(posthorn.publish(…)). Volatile, so
-- that it sees rows written by the same statement. Reads the outbox first, which finds a new event without searching every
-- partition; a duplicate may have left the outbox.
create function posthorn.sequence_of(id text) returns bigint
language plpgsql volatile strict
as $$
declare
  asked uuid := substring(sequence_of.id from '^evt_(.*)$')::uuid;
  found_sequence bigint;
begin
  select o.sequence into found_sequence
  from posthorn.outbox o
  where o.event_id = asked;
  if not found then
    select e.sequence into found_sequence
    from posthorn.events e
    where e.id = asked;
  end if;
  return found_sequence;
end
$$;

-- Writes an event for every active tenant that the user is a member of, all or none. In the order of tenant ids, so that
-- concurrent calls do not deadlock.
create function posthorn.write_event_for_user(
  user_id text,
  type text,
  data text,
  subject text,
  api_version text,
  idempotency_key text,
  traceparent text,
  attributes jsonb,
  is_checked boolean
) returns table (tenant text, id text, sequence bigint, duplicate boolean)
language plpgsql
as $$
declare
  tenants text[];
  new_id text;
begin
  if write_event_for_user.user_id is null or write_event_for_user.user_id !~ '^[A-Za-z0-9_.:@-]{1,128}$' then
    raise exception 'posthorn.publish_for_user: user_id must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ -'
      using errcode = 'PH422', hint = 'invalid_user';
  end if;
  tenants := array(
    select m.tenant
    from posthorn.members m
    join posthorn.tenants t on t.id = m.tenant
    where m.user_id = write_event_for_user.user_id
      and t.is_active
    order by m.tenant
    limit 501
  );
  if cardinality(tenants) > 500 then
    raise exception 'posthorn.publish_for_user: the user "%" is a member of more than 500 active tenants; publish for each tenant', write_event_for_user.user_id
      using errcode = 'PH422', hint = 'too_many_tenants';
  end if;
  foreach tenant in array tenants loop
    new_id := 'evt_' || posthorn.uuidv7(posthorn.now());
    id := posthorn.write_event(
      tenant, write_event_for_user.type, data, subject, api_version, idempotency_key, new_id, traceparent, attributes,
      is_checked);
    sequence := case when subject is not null then posthorn.sequence_of(id) end;
    duplicate := id <> new_id;
    return next;
  end loop;
end
$$;

-- Publishes for a user instead of a tenant: returns the event of every active tenant of the user, by tenant id.
create function posthorn.publish_for_user(
  user_id text,
  type text,
  data text,
  subject text default null,
  api_version text default null,
  idempotency_key text default null,
  traceparent text default null
) returns table (tenant text, id text, sequence bigint, duplicate boolean)
language sql
as $$
  select w.tenant, w.id, w.sequence, w.duplicate
  from posthorn.write_event_for_user(
    user_id, type, data, subject, api_version, idempotency_key, traceparent, null, false
  ) w
$$;

create function posthorn.publish_for_user(
  user_id text,
  type text,
  data jsonb,
  subject text default null,
  api_version text default null,
  idempotency_key text default null,
  traceparent text default null
) returns table (tenant text, id text, sequence bigint, duplicate boolean)
language sql
as $$
  select p.tenant, p.id, p.sequence, p.duplicate
  from posthorn.publish_for_user(
    user_id, type, data::text, subject, api_version, idempotency_key, traceparent
  ) p
$$;

-- A member of a JSON object whose escapes of characters were masked: PostgreSQL reads no object that contains \\u0000 or half
-- a surrogate pair, which data may contain.
create function posthorn.json_member(masked json, name text) returns json
language sql immutable parallel safe
as $$ select replace((masked -> name)::text, '\\u005cu', '\\u')::json $$;

-- Publishes the events of a JSON array, which have the fields of the HTTP API, and returns their ids in the same order. If
-- one is invalid, the message has its place, counted from 0, and none is published. Data is kept byte for byte.
create function posthorn.publish_many(events text)
returns table (id text, sequence bigint, duplicate boolean)
language plpgsql
as $$
declare
  masked json;
  entry json;
  place integer := -1;
  wrong text;
  event_subject text;
  new_id text;
  entry_hint text;
begin
  begin
    masked := replace(publish_many.events, '\\u', '\\u005cu')::json;
    if json_typeof(masked) <> 'array' then
      raise invalid_text_representation using message = 'it is not an array';
    end if;
  exception when invalid_text_representation or statement_too_complex then
    raise exception 'posthorn.publish_many: events is not a JSON array of events: %', sqlerrm
      using errcode = 'PH422', hint = 'invalid_events';
  end;
  if masked is null or json_array_length(masked) > 500 then
    raise exception 'posthorn.publish_many: events must be a JSON array of at most 500 events; call it several times'
      using errcode = 'PH422', hint = 'invalid_events';
  end if;
  for entry in select value from json_array_elements(masked) loop
    place := place + 1;
    if json_typeof(entry) <> 'object' then
      raise exception 'posthorn.publish: it is not an object'
        using errcode = 'PH422', hint = 'invalid_events';
    end if;
    select member.key into wrong
    from json_each(entry) member
    where member.key not in ('tenant', 'type', 'data', 'subject', 'api_version', 'idempotency_key')
    limit 1;
    if found then
      raise exception 'posthorn.publish: an event has no field "%"; its fields are tenant, type, data, subject, api_version and idempotency_key', wrong
        using errcode = 'PH422', hint = 'invalid_events';
    end if;
    select member.key into wrong
    from json_each(entry) member
    where member.key <> 'data'
      and json_typeof(member.value) not in ('string', 'null')
    limit 1;
    if found then
      raise exception 'posthorn.publish: % must be a string', wrong
        using errcode = 'PH422', hint = 'invalid_events';
    end if;
    new_id := 'evt_' || posthorn.uuidv7(posthorn.now());
    event_subject := posthorn.json_member(entry, 'subject') #>> '{}';
    id := posthorn.publish(
      tenant => posthorn.json_member(entry, 'tenant') #>> '{}',
      type => posthorn.json_member(entry, 'type') #>> '{}',
      data => posthorn.json_member(entry, 'data')::text,
      subject => event_subject,
      api_version => posthorn.json_member(entry, 'api_version') #>> '{}',
      idempotency_key => posthorn.json_member(entry, 'idempotency_key') #>> '{}',
      id => new_id);
    sequence := case when event_subject is not null then posthorn.sequence_of(id) end;
    duplicate := id <> new_id;
    return next;
  end loop;
exception
  -- also a subject that text cannot represent, such as "\\u0000"
  when sqlstate 'PH422' or untranslatable_character or invalid_text_representation then
    get stacked diagnostics entry_hint = pg_exception_hint;
    if place < 0 then
      raise;
    end if;
    raise exception 'posthorn.publish_many: event % (counted from 0): %', place, regexp_replace(sqlerrm, '^\\S+\\.publish: ', '')
      using errcode = 'PH422', hint = case when sqlstate = 'PH422' then entry_hint else 'invalid_events' end;
end
$$;

create function posthorn.publish_many(events jsonb)
returns table (id text, sequence bigint, duplicate boolean)
language sql
as $$ select p.id, p.sequence, p.duplicate from posthorn.publish_many(events::text) p $$;
`,
  },
  {
    version: 6,
    name: "operations",
    checksum: "ec8bace4de8100682857c5c77f1768b748ae5b5c18bc9908a9d5ac9f76e0d825",
    sql: `-- Replays, charts, incidents and notifications.

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
`,
  },
  {
    version: 7,
    name: "access",
    checksum: "b156a9f80ae6dfc7118ad19caa6bf3ac3c157d792878c98c234ed9a5add17331",
    sql: `-- API keys, sessions and the audit log.

-- API keys and members' tokens. Only a digest is stored.
create table posthorn.api_keys (
  -- the public part: phk_<id>_…
  id text primary key,
  -- SHA-256 of the whole key; its content is random, so no slow hash is needed
  digest bytea not null,
  name text not null,
  -- null: valid for the whole installation
  tenant text references posthorn.tenants (id) on delete cascade,
  -- the member whose token it is; its scopes are those of the member's current role
  user_id text,
  scopes text[] not null,
  -- requests per second and process; null: the deployment default
  rate_limit integer,
  created_at timestamptz not null default posthorn.now(),
  expires_at timestamptz,
  -- precise to the minute
  last_used_at timestamptz,
  foreign key (tenant, user_id) references posthorn.members (tenant, user_id) on delete cascade
);
create index api_keys_of_tenant on posthorn.api_keys (tenant, id);

-- Sessions in the dashboard and the portal. A session starts with a one-time link or an API key. Only a digest of the
-- link's code and of the cookie is stored.
create table posthorn.sessions (
  -- the public part: phl_<id>_… of the link, phs_<id>_… of the cookie
  id text primary key,
  -- digest of the link's code until it is used, then of the cookie. For an operator it is an HMAC keyed with the admin
  -- key's digest, so that changing the admin key ends the session.
  digest bytea not null,
  -- false: an unused link
  is_open boolean not null,
  -- the key or token used to sign in; deleting it ends the session
  key_id text references posthorn.api_keys (id) on delete cascade,
  -- set for a portal session; with neither key nor tenant it is an operator's session, opened with the admin key
  tenant text references posthorn.tenants (id) on delete cascade,
  -- the member it acts as, with the member's current role
  user_id text,
  -- upper bound of its permissions; null: those of the key or of the member's role
  scopes text[],
  -- how long it lasts after the link is used
  open_seconds integer not null,
  created_at timestamptz not null default posthorn.now(),
  -- end of the link, then of the session
  expires_at timestamptz not null,
  -- sessions with the same owner count towards the same limit
  owner text not null generated always as (coalesce('key ' || key_id, 'tenant ' || tenant, 'admin')) stored,
  foreign key (tenant, user_id) references posthorn.members (tenant, user_id) on delete cascade
);
create index sessions_of_owner on posthorn.sessions (owner, created_at);
create index sessions_of_tenant on posthorn.sessions (tenant, user_id);
create index sessions_of_key on posthorn.sessions (key_id);
create index sessions_by_end on posthorn.sessions (expires_at);

-- Every change made through the API or the library. An entry is written before the change and completed after it, so a crash leaves an
-- entry with an unknown result, never a change without an entry.
create table posthorn.audit_log (
  id uuid primary key default posthorn.uuidv7(posthorn.now()),
  -- admin, key, member, portal, library, or system: a consequence of another change
  actor_kind text not null,
  -- id of the key or token, or the name that the library's user gave; null: the admin key
  actor_id text,
  actor_user text,
  -- tenant of the actor's key or token; null: a key of the installation. A tenant that reads its entries sees neither the
  -- operator's user nor address.
  actor_tenant text,
  -- the affected tenant; null: the whole installation
  tenant text,
  -- an operation of the API, such as endpoints.update
  action text not null,
  -- ids in the path, and the id of what was created
  target jsonb not null,
  -- the request body without secrets
  changes jsonb,
  -- status of the response; null: unknown
  status smallint,
  error_code text,
  -- how many dead letters or rejected events a filter changed; null: another operation
  affected integer,
  -- null: a change through the library
  request_id text,
  address text
);
create index audit_log_of_tenant on posthorn.audit_log (tenant, id);
`,
  },
  {
    version: 8,
    name: "websub",
    checksum: "f9b25df8bcd877ae8f6a2125c71180a0e13e5da8d1137b50d39b81808c2fdaba",
    sql: `-- The WebSub hub. A verified subscription is an endpoint; these tables hold what is not verified yet and the topics of
-- other publishers.

-- Requests to subscribe or unsubscribe that the subscriber has not confirmed yet.
create table posthorn.websub_requests (
  id bigint generated by default as identity primary key,
  -- subscribe, unsubscribe, or denied: the callback is notified that there is no subscription
  mode text not null,
  -- both as received, because they are sent back unchanged
  topic text not null,
  callback text not null,
  -- digest of the normalized topic and callback
  pair bytea not null,
  -- host of the callback
  host text not null,
  lease_seconds integer,
  -- the encrypted secret; null: none
  key_id text,
  ciphertext bytea,
  reason text,
  -- returned to the subscriber in the verification (PubSubHubbub 0.3); null: none
  verify_token text,
  -- which share of the hub's request rate it uses, so that no kind delays the others. new: from an unknown subscriber,
  -- unlimited in number; known: for an existing subscription; ended: a denial, which may come in tens of thousands.
  share text not null default 'new' check (share in ('new', 'known', 'ended')),
  attempts integer not null default 0,
  -- when it is due; moved to the future while a worker processes it
  next_at timestamptz not null default posthorn.now(),
  -- a newer request of the same mode replaces the previous one
  unique (pair, mode)
);
create index websub_requests_due on posthorn.websub_requests (next_at);
create index websub_requests_of_host on posthorn.websub_requests (host);

-- Request counts per time window, shared by all processes.
create table posthorn.websub_rate_limits (
  name text primary key,
  window_ends_at timestamptz not null,
  used integer not null
);

-- Topics of other publishers that have, or had, a subscription.
create table posthorn.websub_topics (
  -- SHA-256 of the normalized URL, in hex
  hash text primary key,
  url text not null,
  host text not null,
  etag text,
  last_modified text,
  -- of the content distributed last
  digest bytea,
  -- how often the content has changed
  revision bigint not null default 0,
  -- incremented by every ping; a ping during a fetch causes another fetch
  pings bigint not null default 0,
  attempts integer not null default 0,
  fetched_at timestamptz,
  -- null: no ping since the last fetch
  due_at timestamptz
);
create index websub_topics_due on posthorn.websub_topics (due_at) where due_at is not null;
`,
  },
  {
    version: 9,
    name: "sources",
    checksum: "d1ca59cba50b60df38a494c188c408e74cdc17c22f9f6e95fcf2d306a338e3af",
    sql: `-- Sources: tables and messages of other databases whose rows are published as events.

create table posthorn.sources (
  name text primary key,
  kind text not null check (kind in ('polling', 'replication')),
  -- everything up to it is stored; written in the transaction that stores the events. Null: nothing was read yet
  position text,
  -- system identifier of the cluster that the position belongs to; null for polling
  cluster text,
  -- starting, running, failing (will be retried), held (by a row that cannot be published) or lost (rows may be missing)
  state text not null default 'starting' check (state in ('starting', 'running', 'failing', 'held', 'lost')),
  error text,
  -- the row that holds the source
  held_row text,
  -- the rows that an operator decided to skip; kept, because a row may be read again
  skipped_rows text[] not null default '{}',
  -- events stored from this source
  events bigint not null default 0,
  -- write-ahead log that the slot retains
  lag_bytes bigint,
  -- everything committed before this time is stored
  caught_up_at timestamptz,
  -- when a process last followed the source
  seen_at timestamptz,
  created_at timestamptz not null default posthorn.now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, fillfactor = 50);
`,
  },
];
