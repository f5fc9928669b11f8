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
-- code and the message says what to do. Never notifies: NOTIFY takes a database-wide lock at the caller's commit. An event
-- with a subject locks the subject until the caller's transaction ends.
create function posthorn.publish(
  tenant text,
  type text,
  data text,
  subject text default null,
  api_version text default null,
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
  catalogue record;
begin
  select c.api_version, c.is_strict into strict catalogue from posthorn.catalogue c;
  publish.api_version := coalesce(publish.api_version, catalogue.api_version);
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
    raise exception 'posthorn.publish: data is missing; pass JSON text, and null as ''null'''
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
      -- thousands of levels exceed the stack of the parser
      raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
        using errcode = 'PH422', hint = 'payload_too_deep';
  end;
  -- counting brackets is cheap; the depth is computed only if there are many
  if length(publish.data) - length(translate(publish.data, '{[', '')) > 64
     and posthorn.json_depth(publish.data) > 64 then
    raise exception 'posthorn.publish: data is nested deeper than 64 levels; flatten it'
      using errcode = 'PH422', hint = 'payload_too_deep';
  end if;
  if length(publish.subject) not between 1 and 256 or publish.subject ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception 'posthorn.publish: subject must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_subject';
  end if;
  if publish.api_version !~ '^[A-Za-z0-9_.-]{1,32}$' then
    raise exception 'posthorn.publish: api_version must be 1 to 32 characters of A-Z a-z 0-9 _ . -'
      using errcode = 'PH422', hint = 'invalid_api_version';
  end if;
  if length(publish.idempotency_key) not between 1 and 256
     or publish.idempotency_key ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception 'posthorn.publish: idempotency_key must be 1 to 256 characters without control characters'
      using errcode = 'PH422', hint = 'invalid_idempotency_key';
  end if;
  -- JSON schemas are not checked here: PostgreSQL has no validator.
  if catalogue.is_strict
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
    raise exception 'posthorn.publish: id must be evt_ and a UUIDv7; omit it to have one generated'
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

  -- after the idempotency key, so that a duplicate uses no number
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

-- For jsonb data. The payload has the key order of PostgreSQL.
create function posthorn.publish(
  tenant text,
  type text,
  data jsonb,
  subject text default null,
  api_version text default null,
  idempotency_key text default null,
  id text default null
) returns text
language sql
as $$ select posthorn.publish(tenant, type, data::text, subject, api_version, idempotency_key, id) $$;

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
