-- Events, the deliveries that are not finished, and the workers that send them.

-- Committed facts. Only `claims` is changed, when a dead letter is deleted. Partitioned by day.
create table posthorn.events (
  id uuid not null,
  tenant text not null,
  type text not null,
  api_version text not null,
  -- the ordering key and the event's number in it; null: no order
  subject text,
  sequence bigint,
  -- bytes, because jsonb reorders keys, rejects \u0000 and loses 1.0 and large integers; the signed bytes are the stored bytes
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

-- A process that sends. The lease is on the worker, and an id is never reused, so `claimed_by = <my id>` is a complete fence.
-- Deliveries without a queue row are fenced by `claims_since`.
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
