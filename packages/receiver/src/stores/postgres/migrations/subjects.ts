// Ordering. At most one message of a subject is claimed, and decisions about a subject are made under its lock.
//
// The functions of this file, claim.ts and inbox.ts implement the state machine of ../../../store.ts, one call per step: as
// plain statements, a step that reads and then writes would need a transaction with several round trips. Their plans are
// cached without named prepared statements, so poolers work.
//
// Written for READ COMMITTED, where every statement of a function sees what was committed before it. Under REPEATABLE
// READ and SERIALIZABLE a step that read outdated rows fails with 40001, and the store repeats it.
//
// Locks are taken in this order, which prevents deadlocks: the message, then its subject. They end with the transaction.
// A claim tries them and never waits, because a handler may run in the transaction that holds them. Only the owner of a
// subject's lease waits for its lock: then other holders are deciding, not running handlers. Steps that visit many
// messages skip locked ones.
export const subjects = `
create function posthorn_receiver.message_lock(source text, id text) returns bigint
language sql immutable as $$
  select hashtextextended(id, hashtextextended(source, hashtextextended('posthorn_receiver.messages', 0)))
$$;

create function posthorn_receiver.subject_lock(source text, subject text) returns bigint
language sql immutable as $$
  select hashtextextended(subject, hashtextextended(source, hashtextextended('posthorn_receiver.subjects', 0)))
$$;

-- Decides whether a message may be claimed now. If so, the subject's lock is kept, so that the decision stays valid. A caller
-- that parks the message keeps it as well, so that it does not miss a wake-up. Other callers release it, because a concurrent
-- claim that tries the lock would find the subject busy.
create function posthorn_receiver.guard(
  source text, subject text, sequence bigint, seen_at timestamptz, gap_wait_ms double precision, parks boolean,
  out verdict text, out until timestamptz
)
language plpgsql as $$
declare
  moment timestamptz := clock_timestamp();
  gap_end timestamptz := guard.seen_at + guard.gap_wait_ms * interval '1 millisecond';
  lock bigint := posthorn_receiver.subject_lock(guard.source, guard.subject);
  with_lock boolean := guard.parks;
  is_free boolean;
  known posthorn_receiver.subjects;
begin
  if guard.gap_wait_ms is null or guard.subject is null or guard.sequence is null then
    verdict := 'go';
    return;
  end if;
  loop
    if with_lock then
      -- readers hold it for microseconds
      for try in 1..case when guard.parks then 1 else 5 end loop
        is_free := pg_try_advisory_xact_lock(lock);
        exit when is_free;
        perform pg_sleep(0.002);
      end loop;
    else
      -- tested and released in one expression. Under SERIALIZABLE, reading the row of a subject whose handler is running
      -- would abort the handler
      is_free := pg_try_advisory_lock_shared(lock) and pg_advisory_unlock_shared(lock);
    end if;
    if not is_free then
      -- the wait is unknown: another process decides, or a handler runs in its transaction
      verdict := 'busy';
      until := moment + interval '1 second';
      return;
    end if;
    select s.* into known
    from posthorn_receiver.subjects s
    where (s.source, s.subject) = (guard.source, guard.subject);
    if known.lease_until > moment then
      verdict := 'busy';
      until := known.lease_until;
    elsif guard.sequence <= known.applied then
      verdict := 'stale';
    elsif guard.sequence > coalesce(known.applied, 0) + 1 and gap_end > moment then
      verdict := 'gap';
      until := gap_end;
    else
      verdict := 'go';
    end if;
    exit when with_lock or verdict <> 'go';
    with_lock := true;
  end loop;
end
$$;

-- Called after a positive decision. Without a lease, the subject's lock protects it until the end of the transaction.
create function posthorn_receiver.enter_subject(
  source text, subject text, token uuid, lease_end timestamptz
) returns void
language sql as $$
  insert into posthorn_receiver.subjects (source, subject, token, lease_until, touched_at)
  values (enter_subject.source, enter_subject.subject, enter_subject.token, enter_subject.lease_end, clock_timestamp())
  on conflict (source, subject) do update
  set token = excluded.token,
      lease_until = excluded.lease_until,
      touched_at = excluded.touched_at
$$;

-- The subject's message is done, and its sequence applied, or it failed. Does nothing without ordering.
create function posthorn_receiver.leave_subject(
  source text, subject text, sequence bigint, token uuid, done boolean
) returns void
language plpgsql as $$
begin
  if leave_subject.subject is null or leave_subject.sequence is null then
    return;
  end if;
  -- waits for a concurrent step that parks a message, which would otherwise miss the wake-up
  perform pg_advisory_xact_lock(posthorn_receiver.subject_lock(leave_subject.source, leave_subject.subject));
  update posthorn_receiver.subjects s
  set applied = case when leave_subject.done then greatest(s.applied, leave_subject.sequence) else s.applied end,
      token = null,
      lease_until = null,
      touched_at = clock_timestamp()
  where (s.source, s.subject) = (leave_subject.source, leave_subject.subject)
    and s.token = leave_subject.token;
  if found then
    perform posthorn_receiver.wake_subject(leave_subject.source, leave_subject.subject, clock_timestamp());
  end if;
end
$$;

-- Parks the due messages of a subject until its claimed message ends. The next one is due when the lease expires, the others when
-- they are woken; the hour is a fallback in case ordering is no longer used.
create function posthorn_receiver.park_subject(source text, subject text, until timestamptz) returns void
language plpgsql as $$
declare
  moment timestamptz := clock_timestamp();
begin
  update posthorn_receiver.messages m
  set (state, ready_at, token, failures, parked)
    = row (
      'waiting',
      greatest(park_subject.until, moment + interval '1 hour'),
      null,
      posthorn_receiver.failures_of(m),
      true
    )
  where m.ctid = any (array (
    select d.ctid
    from posthorn_receiver.messages d
    where (d.source, d.subject) = (park_subject.source, park_subject.subject)
      and d.sequence is not null
      and d.body is not null
      and d.ready_at <= moment
    limit 1000
    for update skip locked
  ));
  perform posthorn_receiver.wake_subject(park_subject.source, park_subject.subject, park_subject.until);
end
$$;

-- Makes the next message, the one with the lowest sequence, due at that time.
create function posthorn_receiver.wake_subject(source text, subject text, at timestamptz) returns void
language plpgsql as $$
begin
  update posthorn_receiver.messages m
  set ready_at = wake_subject.at
  where m.ready_at > wake_subject.at
    and (m.source, m.id) = (
      select p.source, p.id
      from posthorn_receiver.messages p
      where (p.source, p.subject) = (wake_subject.source, wake_subject.subject)
        and p.parked
      order by p.sequence
      limit 1
      for update skip locked
    );
end
$$;
`;
