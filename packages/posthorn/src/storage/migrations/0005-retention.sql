-- How history ends: a day is dropped when it is older than the retention, and what must outlive it stays where it was
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
  select p.relname::text, c.relname::text, bounds[1]::uuid, bounds[2]::uuid, c.relname like '%\_kept'
  from pg_inherits i
  join pg_class p on p.oid = i.inhparent
  join pg_class c on c.oid = i.inhrelid
  cross join regexp_match(
    pg_get_expr(c.relpartbound, c.oid),
    '^FOR VALUES FROM \(''([0-9a-f-]{36})''\) TO \(''([0-9a-f-]{36})''\)$') as bounds
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

-- Second step, until nothing is missing: copies what must stay, for up to `most` deliveries or events. Returns how many rows.
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
