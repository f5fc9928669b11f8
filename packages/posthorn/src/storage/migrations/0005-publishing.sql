-- The catalogue of event types, and publishing from SQL.

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
      regexp_replace(regexp_replace(data, '"(\\.|[^"\\])*"', '', 'g'), '[^][{}]', '', 'g'), ''
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
     or write_event.type !~ '^[a-z0-9_]+(\.[a-z0-9_]+)*$' then
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
  if length(write_event.subject) not between 1 and 256 or write_event.subject ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception 'posthorn.publish: subject must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_subject';
  end if;
  if write_event.api_version !~ '^[A-Za-z0-9_.-]{1,32}$' then
    raise exception 'posthorn.publish: api_version must be 1 to 32 characters of A-Z a-z 0-9 _ . -'
      using errcode = 'PH422', hint = 'invalid_api_version';
  end if;
  if not write_event.is_checked
     and (length(write_event.idempotency_key) not between 1 and 256
       or write_event.idempotency_key ~ '[\u0001-\u001f\u007f-\u009f]') then
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
      convert_to(write_event.type || E'\n' || write_event.api_version || E'\n' || coalesce(write_event.subject, '') || E'\n', 'UTF8')
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

-- A member of a JSON object whose escapes of characters were masked: PostgreSQL reads no object that contains \u0000 or half
-- a surrogate pair, which data may contain.
create function posthorn.json_member(masked json, name text) returns json
language sql immutable parallel safe
as $$ select replace((masked -> name)::text, '\u005cu', '\u')::json $$;

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
    masked := replace(publish_many.events, '\u', '\u005cu')::json;
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
  -- also a subject that text cannot represent, such as "\u0000"
  when sqlstate 'PH422' or untranslatable_character or invalid_text_representation then
    get stacked diagnostics entry_hint = pg_exception_hint;
    if place < 0 then
      raise;
    end if;
    raise exception 'posthorn.publish_many: event % (counted from 0): %', place, regexp_replace(sqlerrm, '^\S+\.publish: ', '')
      using errcode = 'PH422', hint = case when sqlstate = 'PH422' then entry_hint else 'invalid_events' end;
end
$$;

create function posthorn.publish_many(events jsonb)
returns table (id text, sequence bigint, duplicate boolean)
language sql
as $$ select p.id, p.sequence, p.duplicate from posthorn.publish_many(events::text) p $$;
