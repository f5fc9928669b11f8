-- What an event brought along from where it was made, such as a CloudEvent's source, and how its data is to be read. Null for
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
