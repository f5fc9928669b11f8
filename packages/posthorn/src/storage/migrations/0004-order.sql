-- Order: events of a subject are numbered without a gap, and an endpoint may ask to get them one by one in that order.

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
     or publish.type !~ '^[a-z0-9_]+(\.[a-z0-9_]+)*$' then
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
  if length(publish.subject) not between 1 and 256 or publish.subject ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception 'posthorn.publish: subject must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_subject';
  end if;
  if publish.api_version is null or publish.api_version !~ '^[A-Za-z0-9_.-]{1,32}$' then
    raise exception 'posthorn.publish: api_version must be 1 to 32 characters of A-Z a-z 0-9 _ . -'
      using errcode = 'PH422', hint = 'invalid_api_version';
  end if;
  if length(publish.idempotency_key) not between 1 and 256
     or publish.idempotency_key ~ '[\u0001-\u001f\u007f-\u009f]' then
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
      convert_to(publish.type || E'\n' || publish.api_version || E'\n' || coalesce(publish.subject, '') || E'\n', 'UTF8')
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
