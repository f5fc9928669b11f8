-- What happens around a disabled endpoint: who belongs to a tenant and is told, and what is still to be told.

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

-- As before, but for one check more: the types of Posthorn's own events are not for callers.
-- Writes an event in the caller's own transaction: it exists if and only if that transaction commits.
-- Returns the event's id as text, because some clients cannot read void or a row. Raises with SQLSTATE PH422 for
-- what is wrong with the call; the message says what to do. It never notifies: NOTIFY takes a database-wide lock at
-- the caller's commit.
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

  insert into posthorn.events (id, tenant, type, api_version, subject, payload)
  values (event_id, publish.tenant, publish.type, publish.api_version, publish.subject, payload);
  insert into posthorn.outbox (event_id) values (event_id);
  return 'evt_' || event_id;
end
$$;
