-- Functions that every other file uses, and facts about the installation.
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
