// Made from storage/migrations/*.sql by scripts/build-migrations.mjs. Change those, then run it again.

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
    name: "engine",
    checksum: "c35e7ecb4cf5dac617835fd7a95be263a9a156505700ad564918ea0b473df823",
    sql: `-- The ground of everything: facts, what is still owed, history, and who works on what.
-- Written for a schema named posthorn; the migrator puts the configured name in its place.
-- Ids are UUIDv7, so "partitioned by time" means "partitioned by range of id": the primary key is the partition key,
-- a look-up by id touches one partition, and a day is dropped, not deleted.

-- The one clock. In production it is inlined to now(); posthorn/testing replaces it by one that can be moved.
create function posthorn.now() returns timestamptz
language sql stable parallel safe
as $$ select now() $$;

create function posthorn.uuidv7(at timestamptz) returns uuid
language sql volatile parallel safe
as $$
  -- a random v4 uuid with the time laid over its first 48 bits and the version turned from 4 to 7
  select encode(
    set_bit(set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from at) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$$;

-- The smallest uuid of a millisecond: the lower bound of a partition.
create function posthorn.lowest_uuid_at(at timestamptz) returns uuid
language sql immutable parallel safe
as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Times cross to the application as milliseconds, so that no session setting can change how they read.
create function posthorn.epoch_ms(at timestamptz) returns double precision
language sql immutable parallel safe
as $$ select extract(epoch from at)::double precision * 1000 $$;

create table posthorn.meta (
  name text primary key,
  value text not null
);

-- ── who is served ────────────────────────────────────────────────────────────────────────────────────────────────

create table posthorn.tenants (
  id text primary key,
  name text,
  is_active boolean not null default true,
  -- raised with every change to the tenant's endpoints: a publisher's cached routes are checked against it
  routing_version bigint not null default 1,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now()
);

create table posthorn.endpoints (
  id uuid primary key,
  tenant text not null references posthorn.tenants (id),
  url text not null,
  description text,
  events text[] not null,
  is_active boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz,
  -- null means: as the deployment is set
  format text,
  signature jsonb,
  headers jsonb,
  timeout_ms integer,
  max_in_flight integer,
  retry_policy jsonb,
  retry_on text,
  version bigint not null default 1,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now(),
  -- a deleted endpoint stays as a name for its history
  deleted_at timestamptz
);
create index endpoints_of_tenant on posthorn.endpoints (tenant, id) where deleted_at is null;

create table posthorn.endpoint_secrets (
  id uuid primary key,
  endpoint_id uuid not null references posthorn.endpoints (id) on delete cascade,
  key_id text not null,
  ciphertext bytea not null,
  created_at timestamptz not null default posthorn.now(),
  expires_at timestamptz
);
create index endpoint_secrets_of_endpoint on posthorn.endpoint_secrets (endpoint_id);

-- ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────

create table posthorn.events (
  id uuid not null,
  tenant text not null,
  type text not null,
  api_version text not null,
  subject text,
  sequence bigint,
  -- bytes, because jsonb reorders keys, rejects \\u0000 and loses 1.0 and big integers; what is stored is what is signed
  payload bytea not null,
  primary key (id)
) partition by range (id);
create index events_of_tenant on posthorn.events (tenant, id);

-- Committed events that no one has fanned out yet: written in the caller's transaction, emptied by a worker.
create table posthorn.outbox (
  event_id uuid primary key
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

-- Unpartitioned, because a unique index over time partitions could not promise one event per key.
create table posthorn.idempotency_keys (
  tenant text not null,
  key text not null,
  event_id uuid not null,
  digest bytea not null,
  primary key (tenant, key)
);

-- ── what is owed ─────────────────────────────────────────────────────────────────────────────────────────────────

-- The lease is on the worker; its id is never used again, so the id is the epoch and \`claimed_by = me\` the whole fence.
create table posthorn.workers (
  id integer generated always as identity primary key,
  until timestamptz not null,
  -- holds an advisory lock on its own connection for as long as it lives, so that its death shows before the lease ends
  holds_life_lock boolean not null,
  name text not null,
  started_at timestamptz not null default posthorn.now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, fillfactor = 50);

-- One lane per endpoint. Invariant: every queue row is in a lane that is owned by a registered worker, or paused,
-- or has ready_at <= the row's next_at.
create table posthorn.lanes (
  endpoint_id uuid primary key references posthorn.endpoints (id) on delete cascade,
  owner integer,
  ready_at timestamptz,
  paused boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 70);
create index lanes_ready on posthorn.lanes (ready_at) where owner is null and not paused and ready_at is not null;
create index lanes_owned on posthorn.lanes (owner) where owner is not null;

-- Small and hot: exactly the deliveries still owed. The row goes when the delivery ends.
create table posthorn.queue (
  id uuid primary key,
  event_id uuid not null,
  endpoint_id uuid not null,
  next_at timestamptz not null,
  claimed_by integer,
  attempts integer not null default 0,
  failures integer not null default 0,
  replay_count integer not null default 0,
  -- why the next attempt is made: event, retry, manual or test
  trigger text not null default 'event',
  -- when the retry policy's time began: at the event, or at the last manual retry
  owed_since timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, fillfactor = 80);
-- rows that are born claimed never enter it
create index queue_owed on posthorn.queue (endpoint_id, next_at, id) where claimed_by is null;

-- ── history ──────────────────────────────────────────────────────────────────────────────────────────────────────

create table posthorn.deliveries (
  id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  state text not null,
  dead_reason text,
  attempts integer not null,
  replay_count integer not null,
  finished_at timestamptz not null,
  primary key (id)
) partition by range (id);
create index deliveries_of_endpoint on posthorn.deliveries (endpoint_id, id);
create index deliveries_dead on posthorn.deliveries (endpoint_id, id) where state = 'dead';

create table posthorn.attempts (
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
  primary key (delivery_id, number)
) partition by range (delivery_id);

-- A row that finds no partition of its day still finds a place: nothing is refused because maintenance was late.
create table posthorn.events_default partition of posthorn.events default;
create table posthorn.deliveries_default partition of posthorn.deliveries default;
create table posthorn.attempts_default partition of posthorn.attempts default;

-- Makes the partitions of the days first_day … last_day that do not exist yet. Created apart and then attached:
-- "create table … partition of" would lock the parent against every reader.
create function posthorn.ensure_partitions(first_day date, last_day date) returns integer
language plpgsql
as $$
declare
  parent text;
  day date;
  partition text;
  made integer := 0;
begin
  foreach parent in array array['events', 'deliveries', 'attempts'] loop
    for day in select generate_series(first_day, last_day, interval '1 day')::date loop
      partition := parent || '_' || to_char(day, 'YYYYMMDD');
      if to_regclass(format('posthorn.%I', partition)) is null then
        begin
          execute format('create table posthorn.%I (like posthorn.%I including all)', partition, parent);
          execute format(
            'alter table posthorn.%I attach partition posthorn.%I for values from (%L) to (%L)',
            parent, partition,
            posthorn.lowest_uuid_at(day::timestamp at time zone 'UTC'),
            posthorn.lowest_uuid_at((day + 1)::timestamp at time zone 'UTC'));
          made := made + 1;
        exception when check_violation then
          -- the default partition holds rows of this day already: they stay there, and the days after get their own
          null;
        end;
      end if;
    end loop;
  end loop;
  return made;
end
$$;

-- The five states of a delivery, from the queue and from history.
create view posthorn.delivery_states as
select
  q.id,
  q.event_id,
  q.endpoint_id,
  case
    when q.claimed_by is not null then 'in_flight'
    when q.failures > 0 then 'failed'
    else 'pending'
  end as state,
  q.attempts,
  case when q.claimed_by is null and q.failures > 0 then q.next_at end as next_retry_at,
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
  null::timestamptz,
  d.dead_reason,
  d.replay_count,
  d.finished_at
from posthorn.deliveries d;

-- ── publishing from SQL ──────────────────────────────────────────────────────────────────────────────────────────

-- How deep arrays and objects are nested in valid JSON text. Strings are taken out first; what is left is brackets.
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

-- Writes an event in the caller's own transaction: it exists if and only if that transaction commits.
-- Returns the event's id as text, because some clients cannot read void or a row. Raises with SQLSTATE PH422 for
-- what is wrong with the call; the message says what to do. It never notifies: NOTIFY takes a database-wide lock at
-- the caller's commit.
create function posthorn.publish(
  tenant text,
  type text,
  data text,
  subject text default null,
  api_version text default '1',
  idempotency_key text default null,
  id text default null
) returns text
language plpgsql
as $$
declare
  event_id uuid;
  payload bytea := convert_to(publish.data, 'UTF8');
  body_digest bytea;
  known record;
begin
  if publish.tenant is null or publish.tenant !~ '^[A-Za-z0-9_.:@-]{1,128}$' then
    raise exception 'posthorn.publish: tenant must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ -'
      using errcode = 'PH422', hint = 'invalid_tenant';
  end if;
  if publish.type is null or length(publish.type) > 128
     or publish.type !~ '^[a-z0-9_]+(\\.[a-z0-9_]+)*$' then
    raise exception 'posthorn.publish: type must be lower-case words joined by dots, such as order.paid, at most 128 characters'
      using errcode = 'PH422', hint = 'invalid_type';
  end if;
  if publish.data is null then
    raise exception 'posthorn.publish: data is missing; pass JSON text, null itself as ''null'''
      using errcode = 'PH422', hint = 'invalid_data';
  end if;
  if octet_length(payload) > 262144 then
    raise exception 'posthorn.publish: data has % bytes; the limit is 262144. Send a reference instead of the content', octet_length(payload)
      using errcode = 'PH422', hint = 'payload_too_large';
  end if;
  begin
    perform publish.data::json;
  exception
    when invalid_text_representation then
      raise exception 'posthorn.publish: data is not valid JSON: %', sqlerrm
        using errcode = 'PH422', hint = 'invalid_data';
    when statement_too_complex then
      -- thousands of levels, more than the parser's stack holds
      raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
        using errcode = 'PH422', hint = 'payload_too_deep';
  end;
  -- counting brackets is cheap; only data with many of them is measured
  if length(publish.data) - length(translate(publish.data, '{[', '')) > 64
     and posthorn.json_depth(publish.data) > 64 then
    raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
      using errcode = 'PH422', hint = 'payload_too_deep';
  end if;
  if length(publish.subject) not between 1 and 256 or publish.subject ~ '[\\u0001-\\u001f\\u007f-\\u009f]' then
    raise exception 'posthorn.publish: subject must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_subject';
  end if;
  if publish.api_version is null or publish.api_version !~ '^[A-Za-z0-9_.-]{1,32}$' then
    raise exception 'posthorn.publish: api_version must be 1 to 32 characters of A-Z a-z 0-9 _ . -'
      using errcode = 'PH422', hint = 'invalid_api_version';
  end if;
  if length(publish.idempotency_key) not between 1 and 256
     or publish.idempotency_key ~ '[\\u0001-\\u001f\\u007f-\\u009f]' then
    raise exception 'posthorn.publish: idempotency_key must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_idempotency_key';
  end if;
  if publish.id is not null
     and publish.id !~ '^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' then
    raise exception 'posthorn.publish: id must be evt_ and a UUIDv7; leave it out and one is made'
      using errcode = 'PH422', hint = 'invalid_id';
  end if;
  event_id := coalesce(substring(publish.id from 5)::uuid, posthorn.uuidv7(posthorn.now()));

  if publish.idempotency_key is not null then
    body_digest := sha256(
      convert_to(publish.type || E'\\n' || publish.api_version || E'\\n' || coalesce(publish.subject, '') || E'\\n', 'UTF8')
      || payload);
    insert into posthorn.idempotency_keys (tenant, key, event_id, digest)
    values (publish.tenant, publish.idempotency_key, event_id, body_digest)
    on conflict do nothing;
    if not found then
      select k.event_id, k.digest into strict known
      from posthorn.idempotency_keys k
      where k.tenant = publish.tenant and k.key = publish.idempotency_key;
      if known.digest <> body_digest then
        raise exception 'posthorn.publish: idempotency key "%" was used for another event (evt_%); use a new key for new content',
          publish.idempotency_key, known.event_id
          using errcode = 'PH422', hint = 'idempotency_conflict';
      end if;
      return 'evt_' || known.event_id;
    end if;
  end if;

  insert into posthorn.events (id, tenant, type, api_version, subject, payload)
  values (event_id, publish.tenant, publish.type, publish.api_version, publish.subject, payload);
  insert into posthorn.outbox (event_id) values (event_id);
  return 'evt_' || event_id;
end
$$;

-- For callers that hold jsonb; its text has PostgreSQL's key order.
create function posthorn.publish(
  tenant text,
  type text,
  data jsonb,
  subject text default null,
  api_version text default '1',
  idempotency_key text default null,
  id text default null
) returns text
language sql
as $$ select posthorn.publish(tenant, type, data::text, subject, api_version, idempotency_key, id) $$;
`,
  },
  {
    version: 2,
    name: "endpoint-health",
    checksum: "b66695d0b6c5012c9bbe8017672deca43472cc3cbe54259812e9a9105c8fb25b",
    sql: `-- How endpoints are doing, and what limits them beside the cap.

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
`,
  },
  {
    version: 3,
    name: "disabled-endpoints",
    checksum: "cd8f9c8751d147526b420b341e47a7d75177daca5e605c51af398e143a225e7e",
    sql: `-- What happens around a disabled endpoint: who belongs to a tenant and is told, and what is still to be told.

create table posthorn.members (
  tenant text not null references posthorn.tenants (id) on delete cascade,
  user_id text not null,
  role text not null,
  email text,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now(),
  primary key (tenant, user_id)
);

-- That an endpoint was disabled, still to be told over one channel or told already. Written in the transaction that
-- disables. What it says is read when it is sent, from the endpoint and its attempts.
create table posthorn.notices (
  id uuid primary key default posthorn.uuidv7(posthorn.now()),
  channel text not null,
  endpoint_id uuid not null references posthorn.endpoints (id) on delete cascade,
  -- which of its disablings: one that was enabled meanwhile has nothing left to tell
  disabled_at timestamptz not null,
  -- addresses that have it already, so that one that fails costs the others no second copy
  told text[] not null default '{}',
  attempts integer not null default 0,
  -- when it is due; moved ahead while somebody sends it, null when it was sent or given up
  next_at timestamptz default posthorn.now(),
  last_error text
);
create index notices_due on posthorn.notices (channel, next_at) where next_at is not null;
create index notices_of_endpoint on posthorn.notices (endpoint_id);
`,
  },
  {
    version: 4,
    name: "order",
    checksum: "3147894ed39e3633b34f03beea223015b9bced57f2fdf3fc229becf1f19b260e",
    sql: `-- Order: events of a subject are numbered without a gap, and an endpoint may ask to get them one by one in that order.

-- The last number of each subject. Whoever publishes holds the row until the end of its transaction, so the numbers
-- of a subject are in the order of the commits, and a rollback leaves no gap. Never deleted: a receiver remembers how
-- far it got.
create table posthorn.subjects (
  tenant text not null,
  subject text not null,
  last_sequence bigint not null,
  constraint subjects_pkey primary key (tenant, subject)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, fillfactor = 50);

-- subject and sequence are null for an event without a subject
alter table posthorn.outbox
  add column tenant text,
  add column subject text,
  add column sequence bigint;
create index outbox_order on posthorn.outbox (tenant, subject, sequence) where subject is not null;

-- Set in rows that are delivered in order, and in no others. Of these the lowest of each endpoint and subject is due
-- when its next_at says so; one behind it that a fetch has met is parked at infinity until its turn comes.
alter table posthorn.queue
  add column subject text,
  add column sequence bigint;
create index queue_order on posthorn.queue (endpoint_id, subject, sequence) where subject is not null;

-- null means none and pass
alter table posthorn.endpoints
  add column ordering text,
  add column fifo_on_dead text;

-- Dead deliveries that hold up whatever comes after them in their subject.
create table posthorn.held_subjects (
  endpoint_id uuid not null references posthorn.endpoints (id) on delete cascade,
  subject text not null,
  sequence bigint not null,
  delivery_id uuid not null,
  primary key (endpoint_id, subject, sequence)
);

-- Tried before, and to be tried again later although nothing failed: its receiver asked for that.
create function posthorn.is_put_off(attempts integer, next_at timestamptz) returns boolean
language sql stable
as $$ select attempts > 0 and next_at > posthorn.now() and next_at < 'infinity' $$;

-- The five states of a delivery, from the queue and from history.
create or replace view posthorn.delivery_states as
select
  q.id,
  q.event_id,
  q.endpoint_id,
  case
    when q.claimed_by is not null then 'in_flight'
    when q.failures > 0 or posthorn.is_put_off(q.attempts, q.next_at) then 'failed'
    else 'pending'
  end as state,
  q.attempts,
  -- one that waits for its turn has no time
  case
    when q.claimed_by is null and (q.failures > 0 or posthorn.is_put_off(q.attempts, q.next_at))
    then nullif(q.next_at, 'infinity')
  end as next_retry_at,
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
  null::timestamptz,
  d.dead_reason,
  d.replay_count,
  d.finished_at
from posthorn.deliveries d;

-- Writes an event in the caller's own transaction: it exists if and only if that transaction commits.
-- Returns the event's id as text, because some clients cannot read void or a row. Raises with SQLSTATE PH422 for
-- what is wrong with the call; the message says what to do. It never notifies: NOTIFY takes a database-wide lock at
-- the caller's commit. An event with a subject holds that subject until the caller's transaction ends.
create or replace function posthorn.publish(
  tenant text,
  type text,
  data text,
  subject text default null,
  api_version text default '1',
  idempotency_key text default null,
  id text default null
) returns text
language plpgsql
as $$
declare
  event_id uuid;
  event_sequence bigint;
  payload bytea := convert_to(publish.data, 'UTF8');
  body_digest bytea;
  known record;
begin
  if publish.tenant is null or publish.tenant !~ '^[A-Za-z0-9_.:@-]{1,128}$' then
    raise exception 'posthorn.publish: tenant must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ -'
      using errcode = 'PH422', hint = 'invalid_tenant';
  end if;
  if publish.type is null or length(publish.type) > 128
     or publish.type !~ '^[a-z0-9_]+(\\.[a-z0-9_]+)*$' then
    raise exception 'posthorn.publish: type must be lower-case words joined by dots, such as order.paid, at most 128 characters'
      using errcode = 'PH422', hint = 'invalid_type';
  end if;
  if publish.type like 'webhook.%' then
    raise exception 'posthorn.publish: types that begin with webhook. are Posthorn''s own; give the event another type'
      using errcode = 'PH422', hint = 'invalid_type';
  end if;
  if publish.data is null then
    raise exception 'posthorn.publish: data is missing; pass JSON text, null itself as ''null'''
      using errcode = 'PH422', hint = 'invalid_data';
  end if;
  if octet_length(payload) > 262144 then
    raise exception 'posthorn.publish: data has % bytes; the limit is 262144. Send a reference instead of the content', octet_length(payload)
      using errcode = 'PH422', hint = 'payload_too_large';
  end if;
  begin
    perform publish.data::json;
  exception
    when invalid_text_representation then
      raise exception 'posthorn.publish: data is not valid JSON: %', sqlerrm
        using errcode = 'PH422', hint = 'invalid_data';
    when statement_too_complex then
      -- thousands of levels, more than the parser's stack holds
      raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
        using errcode = 'PH422', hint = 'payload_too_deep';
  end;
  -- counting brackets is cheap; only data with many of them is measured
  if length(publish.data) - length(translate(publish.data, '{[', '')) > 64
     and posthorn.json_depth(publish.data) > 64 then
    raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
      using errcode = 'PH422', hint = 'payload_too_deep';
  end if;
  if length(publish.subject) not between 1 and 256 or publish.subject ~ '[\\u0001-\\u001f\\u007f-\\u009f]' then
    raise exception 'posthorn.publish: subject must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_subject';
  end if;
  if publish.api_version is null or publish.api_version !~ '^[A-Za-z0-9_.-]{1,32}$' then
    raise exception 'posthorn.publish: api_version must be 1 to 32 characters of A-Z a-z 0-9 _ . -'
      using errcode = 'PH422', hint = 'invalid_api_version';
  end if;
  if length(publish.idempotency_key) not between 1 and 256
     or publish.idempotency_key ~ '[\\u0001-\\u001f\\u007f-\\u009f]' then
    raise exception 'posthorn.publish: idempotency_key must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_idempotency_key';
  end if;
  if publish.id is not null
     and publish.id !~ '^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' then
    raise exception 'posthorn.publish: id must be evt_ and a UUIDv7; leave it out and one is made'
      using errcode = 'PH422', hint = 'invalid_id';
  end if;
  event_id := coalesce(substring(publish.id from 5)::uuid, posthorn.uuidv7(posthorn.now()));

  if publish.idempotency_key is not null then
    body_digest := sha256(
      convert_to(publish.type || E'\\n' || publish.api_version || E'\\n' || coalesce(publish.subject, '') || E'\\n', 'UTF8')
      || payload);
    insert into posthorn.idempotency_keys (tenant, key, event_id, digest)
    values (publish.tenant, publish.idempotency_key, event_id, body_digest)
    on conflict do nothing;
    if not found then
      select k.event_id, k.digest into strict known
      from posthorn.idempotency_keys k
      where k.tenant = publish.tenant and k.key = publish.idempotency_key;
      if known.digest <> body_digest then
        raise exception 'posthorn.publish: idempotency key "%" was used for another event (evt_%); use a new key for new content',
          publish.idempotency_key, known.event_id
          using errcode = 'PH422', hint = 'idempotency_conflict';
      end if;
      return 'evt_' || known.event_id;
    end if;
  end if;

  -- after the key, so that a duplicate takes no number
  if publish.subject is not null then
    insert into posthorn.subjects as s (tenant, subject, last_sequence)
    values (publish.tenant, publish.subject, 1)
    on conflict on constraint subjects_pkey do update
    set last_sequence = s.last_sequence + 1
    returning s.last_sequence into event_sequence;
  end if;

  insert into posthorn.events (id, tenant, type, api_version, subject, sequence, payload)
  values (event_id, publish.tenant, publish.type, publish.api_version, publish.subject, event_sequence, payload);
  insert into posthorn.outbox (event_id, tenant, subject, sequence)
  values (event_id, publish.tenant, publish.subject, event_sequence);
  return 'evt_' || event_id;
end
$$;
`,
  },
  {
    version: 5,
    name: "retention",
    checksum: "c3d9b2147fcf1a047d56fb793a4018c0cd48f35bd832c6b0779ed6b8b4c6e0f5",
    sql: `-- How history ends: a day is dropped when it is older than the retention, and what must outlive it stays where it was
-- looked for: dead letters, what is still owed, and the events and attempts of both.
--
-- The day is not emptied but replaced. A small table of the same range is filled beside it, without any lock, and takes
-- its place in one short transaction: its name ends in _kept. When all days of a month are such, a single table takes
-- their place by the same three steps, so that years of dead letters do not become thousands of partitions.

-- One process at a time tends the tables. A row and not a lock: it must work behind a transaction pooler.
create table posthorn.leadership (
  role text primary key,
  worker_id integer,
  until timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, fillfactor = 50);
insert into posthorn.leadership (role, until) values ('maintenance', '-infinity');

-- Keys that are there already count from now: none is forgotten too early.
alter table posthorn.idempotency_keys add column created_at timestamptz not null default posthorn.now();
create index idempotency_keys_by_age on posthorn.idempotency_keys (created_at);

-- As before, and it is called every minute now: a day whose rows lie in the default partition is known by one look at
-- the index, without trying, because a try reads all of that partition under a lock.
create or replace function posthorn.ensure_partitions(first_day date, last_day date) returns integer
language plpgsql
as $$
declare
  parent text;
  day date;
  partition text;
  lowest uuid;
  beyond uuid;
  is_in_default boolean;
  made integer := 0;
begin
  foreach parent in array array['events', 'deliveries', 'attempts'] loop
    for day in select generate_series(first_day, last_day, interval '1 day')::date loop
      partition := parent || '_' || to_char(day, 'YYYYMMDD');
      continue when to_regclass(format('posthorn.%I', partition)) is not null;
      lowest := posthorn.lowest_uuid_at(day::timestamp at time zone 'UTC');
      beyond := posthorn.lowest_uuid_at((day + 1)::timestamp at time zone 'UTC');
      execute format(
        'select exists (select from posthorn.%I where %2$I >= $1 and %2$I < $2)',
        parent || '_default', case parent when 'attempts' then 'delivery_id' else 'id' end)
        into is_in_default
        using lowest, beyond;
      continue when is_in_default;
      begin
        execute format('create table posthorn.%I (like posthorn.%I including all)', partition, parent);
        execute format(
          'alter table posthorn.%I attach partition posthorn.%I for values from (%L) to (%L)',
          parent, partition, lowest, beyond);
        made := made + 1;
      exception when check_violation then
        -- a row of this day came into the default partition just now: they stay there, and the days after get their own
        null;
      end;
    end loop;
  end loop;
  return made;
end
$$;

-- Every attached partition of history but the default ones.
create function posthorn.history_partitions()
returns table (parent text, name text, lowest uuid, beyond uuid, is_kept boolean)
language sql stable
as $$
  select p.relname::text, c.relname::text, bounds[1]::uuid, bounds[2]::uuid, c.relname like '%\\_kept'
  from pg_inherits i
  join pg_class p on p.oid = i.inhparent
  join pg_class c on c.oid = i.inhrelid
  cross join regexp_match(
    pg_get_expr(c.relpartbound, c.oid),
    '^FOR VALUES FROM \\(''([0-9a-f-]{36})''\\) TO \\(''([0-9a-f-]{36})''\\)$') as bounds
  where i.inhparent in ('posthorn.events'::regclass, 'posthorn.deliveries'::regclass, 'posthorn.attempts'::regclass)
    and bounds is not null
$$;

-- First step: the table that is to take the place. One that a crash left behind is used, unless a migration has
-- changed the parent since: the steps after compare every row.
create function posthorn.stage_kept(parent text, target text, lowest uuid, beyond uuid) returns void
language plpgsql
as $$
declare
  known oid := to_regclass(format('posthorn.%I', target));
begin
  if known is not null then
    if (select c.relispartition from pg_class c where c.oid = known) then
      raise exception 'posthorn.% is in its place already', target;
    end if;
    if posthorn.columns_of(known) = posthorn.columns_of(format('posthorn.%I', parent)::regclass) then
      return;
    end if;
    execute format('drop table posthorn.%I', target);
  end if;
  execute format('create table posthorn.%I (like posthorn.%I including all)', target, parent);
  -- with it, attaching need not read the table; without autovacuum, nobody holds it in that moment
  execute format(
    'alter table posthorn.%1$I add constraint in_range check (%2$I >= %3$L and %2$I < %4$L)',
    target, case parent when 'attempts' then 'delivery_id' else 'id' end, lowest, beyond);
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

-- Second step, until nothing is missing: copies what must stay, for up to \`most\` deliveries or events. Returns how many rows.
-- A delivery stays while it is dead; out of a table that is _kept already it stays in any state. An attempt stays while
-- its delivery does, owed ones included; an event while any of its deliveries does, or it waits in the outbox. So the
-- order is deliveries, attempts, events, and there is never a delivery without its event.
create function posthorn.copy_kept(parent text, target text, lowest uuid, beyond uuid, most integer) returns integer
language plpgsql
as $$
declare
  stays text := 'true';
  copied integer;
begin
  if parent = 'deliveries' then
    if exists (
      select
      from posthorn.history_partitions() p
      where p.parent = 'deliveries'
        and p.lowest >= copy_kept.lowest
        and p.beyond <= copy_kept.beyond
        and not p.is_kept
    ) then
      -- answered by the index of the dead: the rest of the day is not read
      stays := $sql$d.state = 'dead'$sql$;
    end if;
    -- what was retried since it was copied
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
      $sql$, target, stays)
      using lowest, beyond;
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
      $sql$, target, stays)
      using lowest, beyond, most;
  elsif parent = 'attempts' then
    execute format(
      $sql$
        insert into posthorn.%1$I
        select a.*
        from posthorn.attempts a
        where a.delivery_id = any (array(
            select d.id
            from (
              select d.id, d.attempts
              from posthorn.deliveries d
              where d.id >= $1
                and d.id < $2
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
      using lowest, beyond, most;
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
            )
            except
            select t.id
            from posthorn.%1$I t
            limit $3
          ))
      $sql$, target)
      using lowest, beyond, most;
  end if;
  get diagnostics copied = row_count;
  return copied;
end
$$;

-- Third step: the staged table takes the place of every partition in its range, which are dropped with all that is left
-- in them. The locks shut out everybody, so the caller sets lock_timeout and statement_timeout; when they strike, nothing
-- has happened. Returns how many partitions were dropped.
create function posthorn.swap_kept(parent text, target text, lowest uuid, beyond uuid) returns integer
language plpgsql
as $$
declare
  id_column text := case parent when 'attempts' then 'delivery_id' else 'id' end;
  default_partition text := parent || '_default';
  source text;
  sources text[];
  has_rows boolean;
begin
  -- the parent first, as everybody does who reads or writes
  execute format('lock table only posthorn.%I in access exclusive mode', parent);
  -- another leader was quicker
  if (select c.relispartition from pg_class c where c.oid = format('posthorn.%I', target)::regclass) then
    return 0;
  end if;
  select array_agg(p.name order by p.name) into sources
  from posthorn.history_partitions() p
  where p.parent = swap_kept.parent
    and p.lowest >= swap_kept.lowest
    and p.beyond <= swap_kept.beyond;
  perform posthorn.copy_kept(parent, target, lowest, beyond, null);
  -- a month takes in what the default partition holds of it
  execute format('delete from posthorn.%I where %2$I >= $1 and %2$I < $2', default_partition, id_column)
    using lowest, beyond;
  foreach source in array coalesce(sources, '{}') loop
    execute format('drop table posthorn.%I', source);
  end loop;
  execute format('select exists (select from posthorn.%I)', target) into has_rows;
  if has_rows then
    execute format(
      'alter table posthorn.%I attach partition posthorn.%I for values from (%L) to (%L)',
      parent, target, lowest, beyond);
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
    version: 6,
    name: "publish-sequence",
    checksum: "42be4b19c6d9d4a5e0660e9aa78b3bb5138fd652c83720c4c0e493c91e8cc854",
    sql: `-- The number of an event in its subject, for whoever has just published it: select posthorn.sequence_of(id), also around
-- posthorn.publish itself. Volatile, because only then it sees what the same statement has written. First in the
-- outbox, where a new event is found without a look at every partition; a duplicate may have left it long ago.
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
`,
  },
  {
    version: 7,
    name: "quiet-hour",
    checksum: "42a09c87f71ab7ac9b4953a5418f04f343a5b0f4693ca7bdd400e579d539acee",
    sql: `-- An endpoint that is enabled and fails again at once, by a script or an impatient hand, is disabled again each time. People
-- hear of it once an hour, so it has to be known when they last did.
alter table posthorn.notices add column sent_at timestamptz;
`,
  },
  {
    version: 8,
    name: "keys",
    checksum: "035224d5ac76014539a0847b65e55fc95fb1ebc8b28ffcc74894c2f7a81b4038",
    sql: `-- Keys and members' tokens: of the whole of it only a digest is kept.

create table posthorn.api_keys (
  -- the part that may be shown: phk_<id>_…
  id text primary key,
  -- sha-256 of the whole text; what is in it is random, so that needs no slow hash
  digest bytea not null,
  name text not null,
  -- null: of the whole installation
  tenant text references posthorn.tenants (id) on delete cascade,
  -- whose token it is; its scopes are then those of the member's role, as it is when it is used
  user_id text,
  scopes text[] not null,
  -- requests a second, for each process; null: as the deployment is set
  rate_limit integer,
  created_at timestamptz not null default posthorn.now(),
  expires_at timestamptz,
  -- to the minute
  last_used_at timestamptz,
  foreign key (tenant, user_id) references posthorn.members (tenant, user_id) on delete cascade
);
create index api_keys_of_tenant on posthorn.api_keys (tenant, id);
`,
  },
  {
    version: 9,
    name: "audit",
    checksum: "c4b0bf6c26c9d71ecb2ed69b084e0a0df0ac1268e03bb3e50b67254a95de63e3",
    sql: `-- What people and programs changed. An entry is written before the change is tried and completed after it, so that a
-- process that dies in between leaves one whose end is not known, never a change without an entry.

create table posthorn.audit_log (
  id uuid primary key default posthorn.uuidv7(posthorn.now()),
  -- admin, key or member
  actor_kind text not null,
  -- the key's or token's id; null for the admin key
  actor_id text,
  actor_user text,
  -- whom it concerned; null: the whole installation
  tenant text,
  -- an operation of the contract, such as endpoints.update
  action text not null,
  -- what it was about: the ids in the path, and that of what was made
  target jsonb not null,
  -- what was asked for, without secrets
  changes jsonb,
  -- the answer's status; null: not known
  status smallint,
  error_code text,
  request_id text not null,
  address text
);
create index audit_log_of_tenant on posthorn.audit_log (tenant, id);
`,
  },
  {
    version: 10,
    name: "catalogue",
    checksum: "47443a73785c734e66ba74612320901c86adbda7d467e9568016bf693d72dfb1",
    sql: `-- The catalogue of event types: what each is called, how its data looks, and what of it is hidden from people.

create table posthorn.event_types (
  name text not null,
  api_version text not null,
  description text,
  -- JSON as it was given: jsonb would reorder keys and lose 1.0
  schema text,
  example text,
  -- JSON Pointers, * for every item or member
  redact text[] not null default '{}',
  is_deprecated boolean not null default false,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now(),
  -- A type that was deleted still hides what was published under it.
  deleted_at timestamptz,
  primary key (name, api_version)
);

-- One row. Every change of a type raises the version, which is all that other processes look at twice a second.
create table posthorn.catalogue (
  is_only boolean primary key default true check (is_only),
  version bigint not null default 1,
  -- as the process that was started last has it; for posthorn.publish, which has no options
  mode text not null default 'auto' check (mode in ('auto', 'strict', 'open')),
  -- what follows from the mode and from whether there are types
  is_strict boolean not null default false
);
insert into posthorn.catalogue default values;

-- The tenants of a user, for events that are published for one.
create index members_of_user on posthorn.members (user_id, tenant);

-- As in migration 0004, and with a look at the catalogue when it is strict.
create or replace function posthorn.publish(
  tenant text,
  type text,
  data text,
  subject text default null,
  api_version text default '1',
  idempotency_key text default null,
  id text default null
) returns text
language plpgsql
as $$
declare
  event_id uuid;
  event_sequence bigint;
  payload bytea := convert_to(publish.data, 'UTF8');
  body_digest bytea;
  known record;
begin
  if publish.tenant is null or publish.tenant !~ '^[A-Za-z0-9_.:@-]{1,128}$' then
    raise exception 'posthorn.publish: tenant must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ -'
      using errcode = 'PH422', hint = 'invalid_tenant';
  end if;
  if publish.type is null or length(publish.type) > 128
     or publish.type !~ '^[a-z0-9_]+(\\.[a-z0-9_]+)*$' then
    raise exception 'posthorn.publish: type must be lower-case words joined by dots, such as order.paid, at most 128 characters'
      using errcode = 'PH422', hint = 'invalid_type';
  end if;
  if publish.type like 'webhook.%' then
    raise exception 'posthorn.publish: types that begin with webhook. are Posthorn''s own; give the event another type'
      using errcode = 'PH422', hint = 'invalid_type';
  end if;
  if publish.data is null then
    raise exception 'posthorn.publish: data is missing; pass JSON text, null itself as ''null'''
      using errcode = 'PH422', hint = 'invalid_data';
  end if;
  if octet_length(payload) > 262144 then
    raise exception 'posthorn.publish: data has % bytes; the limit is 262144. Send a reference instead of the content', octet_length(payload)
      using errcode = 'PH422', hint = 'payload_too_large';
  end if;
  begin
    perform publish.data::json;
  exception
    when invalid_text_representation then
      raise exception 'posthorn.publish: data is not valid JSON: %', sqlerrm
        using errcode = 'PH422', hint = 'invalid_data';
    when statement_too_complex then
      -- thousands of levels, more than the parser's stack holds
      raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
        using errcode = 'PH422', hint = 'payload_too_deep';
  end;
  -- counting brackets is cheap; only data with many of them is measured
  if length(publish.data) - length(translate(publish.data, '{[', '')) > 64
     and posthorn.json_depth(publish.data) > 64 then
    raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
      using errcode = 'PH422', hint = 'payload_too_deep';
  end if;
  if length(publish.subject) not between 1 and 256 or publish.subject ~ '[\\u0001-\\u001f\\u007f-\\u009f]' then
    raise exception 'posthorn.publish: subject must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_subject';
  end if;
  if publish.api_version is null or publish.api_version !~ '^[A-Za-z0-9_.-]{1,32}$' then
    raise exception 'posthorn.publish: api_version must be 1 to 32 characters of A-Z a-z 0-9 _ . -'
      using errcode = 'PH422', hint = 'invalid_api_version';
  end if;
  if length(publish.idempotency_key) not between 1 and 256
     or publish.idempotency_key ~ '[\\u0001-\\u001f\\u007f-\\u009f]' then
    raise exception 'posthorn.publish: idempotency_key must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_idempotency_key';
  end if;
  -- What schemas say is not checked here: PostgreSQL has nothing that reads them.
  if (select c.is_strict from posthorn.catalogue c)
     and not exists (
       select from posthorn.event_types t
       where t.name = publish.type
         and t.api_version = publish.api_version
         and t.deleted_at is null
     ) then
    raise exception 'posthorn.publish: the catalogue has no type % of api_version %; register it first', publish.type, publish.api_version
      using errcode = 'PH422', hint = 'unknown_type';
  end if;
  if publish.id is not null
     and publish.id !~ '^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' then
    raise exception 'posthorn.publish: id must be evt_ and a UUIDv7; leave it out and one is made'
      using errcode = 'PH422', hint = 'invalid_id';
  end if;
  event_id := coalesce(substring(publish.id from 5)::uuid, posthorn.uuidv7(posthorn.now()));

  if publish.idempotency_key is not null then
    body_digest := sha256(
      convert_to(publish.type || E'\\n' || publish.api_version || E'\\n' || coalesce(publish.subject, '') || E'\\n', 'UTF8')
      || payload);
    insert into posthorn.idempotency_keys (tenant, key, event_id, digest)
    values (publish.tenant, publish.idempotency_key, event_id, body_digest)
    on conflict do nothing;
    if not found then
      select k.event_id, k.digest into strict known
      from posthorn.idempotency_keys k
      where k.tenant = publish.tenant and k.key = publish.idempotency_key;
      if known.digest <> body_digest then
        raise exception 'posthorn.publish: idempotency key "%" was used for another event (evt_%); use a new key for new content',
          publish.idempotency_key, known.event_id
          using errcode = 'PH422', hint = 'idempotency_conflict';
      end if;
      return 'evt_' || known.event_id;
    end if;
  end if;

  -- after the key, so that a duplicate takes no number
  if publish.subject is not null then
    insert into posthorn.subjects as s (tenant, subject, last_sequence)
    values (publish.tenant, publish.subject, 1)
    on conflict on constraint subjects_pkey do update
    set last_sequence = s.last_sequence + 1
    returning s.last_sequence into event_sequence;
  end if;

  insert into posthorn.events (id, tenant, type, api_version, subject, sequence, payload)
  values (event_id, publish.tenant, publish.type, publish.api_version, publish.subject, event_sequence, payload);
  insert into posthorn.outbox (event_id, tenant, subject, sequence)
  values (event_id, publish.tenant, publish.subject, event_sequence);
  return 'evt_' || event_id;
end
$$;
`,
  },
  {
    version: 11,
    name: "filters",
    checksum: "185ca80ba2085cd98163fad390949d330e261046a42cf1f1d2d4fb0b032b2407",
    sql: `-- What an endpoint wants of an event besides its type; null: nothing. Kept as it was written, and checked before.
alter table posthorn.endpoints add column filter jsonb;
`,
  },
  {
    version: 12,
    name: "replay",
    checksum: "9771ff4fae0ee7bbdddc4410d565fa6cc145fd06e9a103d7d6c9d2b0a7735376",
    sql: `-- Sending again what was sent before, by a filter: one row per replay, which is also how far it has come.

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
`,
  },
  {
    version: 13,
    name: "seeing-it",
    checksum: "2f34ddb506fb033bb389791ddb31159ef0557d244062d262b0565aad13a45fe3",
    sql: `-- What operators look at.

-- The trace in which the event was published (W3C traceparent), so that attempts hours later join it; null without one.
alter table posthorn.events add column traceparent text;

-- Counted at every look at the metrics; a healthy installation has no entry in it.
create index endpoints_disabled on posthorn.endpoints (id) where not is_active and deleted_at is null;
`,
  },
  {
    version: 14,
    name: "resends",
    checksum: "ece848dda43c8e1755db60e2dd99f89cb6d1c94327b3a0d9ed793c6465c5d28e",
    sql: `-- What was sent again, by hand or by a replay, is found by when that happened. Of all attempts these are very few: the
-- others never enter the index, so recording them costs nothing more.
create index attempts_resent on posthorn.attempts (started_at, delivery_id) where trigger in ('manual', 'replay');
`,
  },
  {
    version: 15,
    name: "in-flight",
    checksum: "8797e861af122344427e80dfc667a44a2529fa8582eafaff4998667691269126",
    sql: `-- What is in flight, in the order of ids. Every delivery enters it once for each attempt, which costs 1.1 µs of the
-- database and 82 bytes of WAL (of 2,100). Without it a tenant's page of deliveries looks through everybody's backlog for
-- the few that are being sent, and so does the burial of a worker.
create index queue_in_flight on posthorn.queue (id) where claimed_by is not null;
`,
  },
  {
    version: 16,
    name: "deleted-tenants",
    checksum: "df4d44475fe248194d720d128eb832661c32bf3a869e251401d297a12126493c",
    sql: `-- Ids of tenants that were deleted. Their events, deliveries, idempotency keys and audit entries stay, so whoever got
-- the id next would find somebody else's: it is taken until the tenant itself is brought back.

create table posthorn.deleted_tenants (
  tenant text primary key,
  deleted_at timestamptz not null default posthorn.now()
);

-- those that are known to have been deleted before
insert into posthorn.deleted_tenants (tenant)
select distinct a.tenant
from posthorn.audit_log a
where a.action = 'tenants.delete'
  and a.status = 200
  and a.tenant is not null
  and not exists (select from posthorn.tenants t where t.id = a.tenant);
`,
  },
  {
    version: 17,
    name: "actor-tenant",
    checksum: "65463130d13d1726a5559e91d38a575676bc0cddc4e8ea35ceac2a4337ec6aed",
    sql: `-- Whose key or token acted; null: one of the whole installation, or written before this was kept. A tenant that reads its
-- entries does not see who of the operator's people it was, nor from where.
alter table posthorn.audit_log add column actor_tenant text;
`,
  },
  {
    version: 18,
    name: "held-lanes",
    checksum: "84481dd7441a78ae334656462f602a27e7cce4dc78093672df385305404fbd67",
    sql: `-- Until when what a lane is owed waits for the endpoint's own limit, its rate or its attempts in flight, and not for us:
-- infinity while it does, the moment it ended afterwards. Written by the owner, once a second at most and only for lanes
-- that are behind; only the owner knows, and it has to be told apart from a worker that is too busy.
alter table posthorn.lanes add column held_until timestamptz;
`,
  },
  {
    version: 19,
    name: "sessions",
    checksum: "7ad2c36a243df30e3fae0dbd7a29905a1ffc69f17119fd616e41223b49643d3d",
    sql: `-- Sessions of people in the dashboard and the portal. One begins as a one-time link, or with a key; of the code and of
-- the cookie only a digest is kept.

create table posthorn.sessions (
  -- the part that may be shown: phl_<id>_… of the link, phs_<id>_… of the cookie
  id text primary key,
  -- of the link's code until it is used, then of the cookie; of an operator's with the admin key's digest as the key of
  -- an HMAC, so that a changed admin key ends it
  digest bytea not null,
  -- false: a link that nobody has used yet
  is_open boolean not null,
  -- the key or token that was signed in with; its end is the session's
  key_id text references posthorn.api_keys (id) on delete cascade,
  -- of a portal session; with neither a key nor a tenant it is an operator's, by the admin key
  tenant text references posthorn.tenants (id) on delete cascade,
  -- the member it acts as, in the role they have when they use it
  user_id text,
  -- what it may do at most; null: all that the key, or the member's role, may
  scopes text[],
  -- how long it lasts once the link is used
  open_seconds integer not null,
  created_at timestamptz not null default posthorn.now(),
  -- the link's end, then the session's
  expires_at timestamptz not null,
  -- whose sessions are counted together
  owner text not null generated always as (coalesce('key ' || key_id, 'tenant ' || tenant, 'admin')) stored,
  foreign key (tenant, user_id) references posthorn.members (tenant, user_id) on delete cascade
);
create index sessions_of_owner on posthorn.sessions (owner, created_at);
create index sessions_of_tenant on posthorn.sessions (tenant, user_id);
create index sessions_of_key on posthorn.sessions (key_id);
create index sessions_by_end on posthorn.sessions (expires_at);
`,
  },
  {
    version: 20,
    name: "attempt-phases",
    checksum: "529e2e9d653e3e583d076cc4e7ae3b232b8ec199a95fdcf71550642705cc5cde",
    sql: `-- Where the time of an attempt went. What is left of duration_ms is the answer's body. Null for what did not take place: on
-- a connection that was open already, which most are, a row is 4 bytes longer.
alter table posthorn.attempts
  add column connect_ms integer,
  add column tls_ms integer,
  add column first_byte_ms integer;
`,
  },
  {
    version: 21,
    name: "activity",
    checksum: "2672dd9a16439d521474e9db262c15ae591586c61eb36d5f0d3660da9613aeb3",
    sql: `-- Attempts over time, for charts: counted by workers in memory, added here every few seconds. A stretch is of a width (60,
-- 300 or 3600 seconds) and of an endpoint, or of the whole installation: the id of zeros. By time first, so that new rows
-- go to the end, old ones are deleted from the front, and those of an endpoint are found one by one: the times are known.
create table posthorn.activity (
  width integer not null,
  at timestamptz not null,
  endpoint_id uuid not null,
  success integer not null,
  failed integer not null,
  dead integer not null,
  -- how many attempts took how long, by the bounds in observe/latency-histogram.ts
  latency integer[] not null,
  primary key (width, at, endpoint_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, fillfactor = 70);
`,
  },
  {
    version: 22,
    name: "test-events",
    checksum: "edebf450c3e1f21ef34ad3025668ccac842f2534dd2408e9a800280b5bf5d343",
    sql: `-- A test event may have any type; it is for one endpoint alone, and no replay brings it to another. Null: it was published.
alter table posthorn.events add column is_test boolean;
`,
  },
  {
    version: 23,
    name: "cloudevents",
    checksum: "a7567a440a3ba1765e62afbeeab64272dbb4b4b5583a285b58d3925be0b4aa84",
    sql: `-- What an event brought along from where it was made, such as a CloudEvent's source, and how its data is to be read. Null for
-- those published our way, which are longer by nothing.
alter table posthorn.events add column attributes jsonb;

-- Null: as it is unless told.
alter table posthorn.endpoints add column batch jsonb;

-- Events that wait for the others of their batch. A batch is made of them in one transaction: from then on it is an event and a
-- delivery like any other.
create table posthorn.collected (
  endpoint_id uuid not null,
  place bigint generated always as identity,
  event_id uuid not null,
  -- in the batch, a few bytes more at most
  bytes integer not null,
  collected_at timestamptz not null default posthorn.now(),
  primary key (endpoint_id, place)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index collected_of_event on posthorn.collected (event_id);

-- Which events a batch was made of. Kept for as long as the batch is.
create table posthorn.batch_members (
  batch_id uuid not null,
  place integer not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  primary key (batch_id, place)
);
create index batch_members_of_event on posthorn.batch_members (event_id);

-- As in migration 0005, and an event that waits for its batch stays as well.
create or replace function posthorn.copy_kept(parent text, target text, lowest uuid, beyond uuid, most integer) returns integer
language plpgsql
as $$
declare
  stays text := 'true';
  copied integer;
begin
  if parent = 'deliveries' then
    if exists (
      select
      from posthorn.history_partitions() p
      where p.parent = 'deliveries'
        and p.lowest >= copy_kept.lowest
        and p.beyond <= copy_kept.beyond
        and not p.is_kept
    ) then
      -- answered by the index of the dead: the rest of the day is not read
      stays := $sql$d.state = 'dead'$sql$;
    end if;
    -- what was retried since it was copied
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
      $sql$, target, stays)
      using lowest, beyond;
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
      $sql$, target, stays)
      using lowest, beyond, most;
  elsif parent = 'attempts' then
    execute format(
      $sql$
        insert into posthorn.%1$I
        select a.*
        from posthorn.attempts a
        where a.delivery_id = any (array(
            select d.id
            from (
              select d.id, d.attempts
              from posthorn.deliveries d
              where d.id >= $1
                and d.id < $2
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
      using lowest, beyond, most;
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
              select c.event_id
              from posthorn.collected c
              where c.event_id >= $1
                and c.event_id < $2
            )
            except
            select t.id
            from posthorn.%1$I t
            limit $3
          ))
      $sql$, target)
      using lowest, beyond, most;
  end if;
  get diagnostics copied = row_count;
  return copied;
end
$$;
`,
  },
  {
    version: 24,
    name: "websub",
    checksum: "716e9cb228a3fd977c606200c05595819eaca7306c5c07514894cc5c64806209",
    sql: `-- The WebSub hub. A verified subscription is an endpoint, so that everything behind the queue treats it as one; here is
-- what only a subscription has, what is still to be verified, and the topics of others that are fetched.

-- Which types of events anybody may read and follow; null: none.
alter table posthorn.tenants add column websub_topics text[];

alter table posthorn.endpoints
  -- the topic's URL; null: no subscription
  add column websub_topic text,
  -- digest of topic and callback as they are compared
  add column websub_pair bytea,
  -- of the callback
  add column websub_host text,
  add column lease_ends_at timestamptz;
create unique index endpoints_of_websub_pair on posthorn.endpoints (websub_pair)
  where websub_pair is not null and deleted_at is null;
create index endpoints_of_websub_host on posthorn.endpoints (websub_host)
  where websub_host is not null and deleted_at is null;
create index endpoints_of_lease on posthorn.endpoints (lease_ends_at)
  where lease_ends_at is not null and deleted_at is null;

-- What somebody asked for and has not confirmed yet. Nothing of it counts before.
create table posthorn.websub_requests (
  id bigint generated by default as identity primary key,
  -- subscribe, unsubscribe, or denied: the callback is to be told that there is no subscription
  mode text not null,
  -- both as they were written: they are sent back
  topic text not null,
  callback text not null,
  pair bytea not null,
  host text not null,
  lease_seconds integer,
  -- the secret, encrypted; null: none
  key_id text,
  ciphertext bytea,
  reason text,
  attempts integer not null default 0,
  -- when it is due; moved ahead while somebody is at it
  next_at timestamptz not null default posthorn.now(),
  -- the newest request of a kind takes the place of the one before
  unique (pair, mode)
);
create index websub_requests_due on posthorn.websub_requests (next_at);
create index websub_requests_of_host on posthorn.websub_requests (host);

-- How many requests went where, so that all processes together keep to a limit.
create table posthorn.websub_permits (
  name text primary key,
  window_ends_at timestamptz not null,
  taken integer not null
);

-- Topics of others, from their first subscription on.
create table posthorn.websub_topics (
  -- sha-256 of the URL as it is compared, in hex
  hash text primary key,
  url text not null,
  host text not null,
  etag text,
  last_modified text,
  -- of the content that was distributed last
  digest bytea,
  -- how often it has changed
  revision bigint not null default 0,
  -- raised by every ping: one that comes while the topic is fetched has it fetched once more
  pings bigint not null default 0,
  attempts integer not null default 0,
  fetched_at timestamptz,
  -- null: nobody pinged since
  due_at timestamptz
);
create index websub_topics_due on posthorn.websub_topics (due_at) where due_at is not null;
`,
  },
  {
    version: 25,
    name: "signing-as-others-do",
    checksum: "e4c401d9aa144527e99a390f1ea5086a1e677cb1eb6795f353e095c137a42952",
    sql: `-- What a secret is for. Null: every signature scheme that has none of its own. The name of a scheme, such as \`stripe\`: that
-- one alone. \`authorization\`: it signs nothing and is the token that the receiver knows its sender by.
alter table posthorn.endpoint_secrets add column used_for text;

-- Where that token goes; null: there is none.
alter table posthorn.endpoints
  add column authorization_type text check (authorization_type in ('bearer', 'query'));

-- Whether an endpoint agreed to get webhooks ("HTTP 1.1 Web Hooks for Event Delivery" §4). Without a row nobody asks; with
-- one that is not granted nothing is sent.
create table posthorn.endpoint_handshakes (
  endpoint_id uuid primary key references posthorn.endpoints (id) on delete cascade,
  origin text not null,
  -- per minute; null: none is asked for, and none was set
  requested_rate integer,
  allowed_rate integer,
  state text not null check (state in ('asking', 'waiting', 'granted', 'denied')),
  detail text,
  -- of the URL by which the endpoint can agree later; a new one whenever it is asked anew, so that it also says what an
  -- answer is an answer to
  callback_token text not null unique,
  attempts integer not null default 0,
  next_at timestamptz,
  asked_at timestamptz,
  decided_at timestamptz
);
create index endpoint_handshakes_due on posthorn.endpoint_handshakes (next_at) where next_at is not null;
`,
  },
  {
    version: 26,
    name: "hub-shares",
    checksum: "2914acf54cc15c83d98abfaf289f6ade8783cae9dbdbfdfa37b881ae1e6fb4e0",
    sql: `-- Which share of the hub's requests a request takes from. \`new\`: from somebody who follows nothing yet, which anybody can
-- make any number of. \`known\`: of a subscription that is there. \`ended\`: a denial, of which ten thousand may come at once.
-- None of them waits for the others.
alter table posthorn.websub_requests
  add column share text not null default 'new' check (share in ('new', 'known', 'ended'));
update posthorn.websub_requests set share = 'ended' where mode = 'denied';
`,
  },
];
