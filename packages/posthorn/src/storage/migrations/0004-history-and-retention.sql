-- Finished deliveries, their attempts, and the retention that drops old days.

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

-- Unfinished deliveries without a queue row, of events from `low` to `high`. Reads events of the last seconds, and their
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

-- The states of the deliveries of these events, up to `most` for the events of a millisecond. Their ids have the same time,
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
  select p.relname::text, c.relname::text, bounds[1]::uuid, bounds[2]::uuid, c.relname like '%\_kept'
  from pg_inherits i
  join pg_class p on p.oid = i.inhparent
  join pg_class c on c.oid = i.inhrelid
  cross join regexp_match(
    pg_get_expr(c.relpartbound, c.oid),
    '^FOR VALUES FROM \(''([0-9a-f-]{36})''\) TO \(''([0-9a-f-]{36})''\)$') as bounds
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
