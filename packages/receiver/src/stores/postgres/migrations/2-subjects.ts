// The sequence guard. At most one message of a subject is claimed, and who decides about a subject holds its lock.
//
// The functions of this and the following migrations are the state machine of ../../../store.ts, each step one call: as
// plain statements a step that reads and then writes would be a transaction with its round trips. Their plans are kept
// without named prepared statements, so poolers may stand between.
//
// Written for READ COMMITTED, where every statement of a function sees what was committed before it. Under REPEATABLE
// READ and SERIALIZABLE a step that saw something outdated fails with 40001, and the store runs it again.
//
// Locks, in this order, so that none wait for each other: the message, then its subject. They end with the transaction.
// Who wants to claim tries them and never waits, because a handler may work in the transaction that has them. Only who
// holds the lease of a subject waits for its lock: then those who have it are deciding, not working. What goes through
// many messages skips those that are locked.
export const subjects = `
create function posthorn_receiver.message_lock(source text, id text) returns bigint
language sql immutable as $$
  select hashtextextended(id, hashtextextended(source, hashtextextended('posthorn_receiver.messages', 0)))
$$;

create function posthorn_receiver.subject_lock(source text, subject text) returns bigint
language sql immutable as $$
  select hashtextextended(subject, hashtextextended(source, hashtextextended('posthorn_receiver.subjects', 0)))
$$;

-- May a message go now? When it may, the lock of its subject is kept, so that the answer stays true. Who puts aside what
-- may not go keeps it too, so that it does not miss being woken; to others it is told without, because whoever tries the
-- lock meanwhile hears that the subject is busy, and the next in line would hear so from those behind it.
create function posthorn_receiver.guard(
  source text, subject text, sequence bigint, seen_at timestamptz, gap_wait_ms double precision, puts_aside boolean,
  out verdict text, out until timestamptz
)
language plpgsql as $$
#variable_conflict use_column
declare
  moment timestamptz := clock_timestamp();
  gap_end timestamptz := guard.seen_at + guard.gap_wait_ms * interval '1 millisecond';
  lock bigint := posthorn_receiver.subject_lock(guard.source, guard.subject);
  with_lock boolean := guard.puts_aside;
  is_free boolean;
  known posthorn_receiver.subjects;
begin
  if guard.gap_wait_ms is null or guard.subject is null or guard.sequence is null then
    verdict := 'go';
    return;
  end if;
  loop
    if with_lock then
      -- who only looks has it for microseconds
      for try in 1..case when guard.puts_aside then 1 else 5 end loop
        is_free := pg_try_advisory_xact_lock(lock);
        exit when is_free;
        perform pg_sleep(0.002);
      end loop;
    else
      -- only looked at, and let go in the same expression. Under SERIALIZABLE reading the row of a subject in whose
      -- transaction a handler works would undo the handler
      is_free := pg_try_advisory_lock_shared(lock) and pg_advisory_unlock_shared(lock);
    end if;
    if not is_free then
      -- for how long is not known: somebody decides, or a handler works in its transaction
      verdict := 'busy';
      until := moment + interval '1 second';
      return;
    end if;
    select s.* into known
    from posthorn_receiver.subjects s
    where s.source = guard.source
      and s.subject = guard.subject;
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

-- After the guard let a message go. Without a lease the lock of the subject, kept to the end, holds it for its token.
create function posthorn_receiver.enter_subject(
  source text, subject text, sequence bigint, gap_wait_ms double precision, token uuid, lease_end timestamptz
) returns void
language plpgsql as $$
#variable_conflict use_column
begin
  if enter_subject.gap_wait_ms is null or enter_subject.subject is null or enter_subject.sequence is null then
    return;
  end if;
  insert into posthorn_receiver.subjects as s (source, subject, applied, token, lease_until, touched_at)
  values (
    enter_subject.source, enter_subject.subject, null, enter_subject.token, enter_subject.lease_end, clock_timestamp()
  )
  on conflict (source, subject) do update
  set token = excluded.token,
      lease_until = excluded.lease_until,
      touched_at = excluded.touched_at;
end
$$;

-- What had the subject is done, and its sequence applied, or failed. Does nothing where no guard is used.
create function posthorn_receiver.leave_subject(
  source text, subject text, sequence bigint, token uuid, done boolean
) returns void
language plpgsql as $$
#variable_conflict use_column
begin
  if leave_subject.subject is null or leave_subject.sequence is null then
    return;
  end if;
  -- waits for who is just putting a message aside, which would otherwise miss being woken
  perform pg_advisory_xact_lock(posthorn_receiver.subject_lock(leave_subject.source, leave_subject.subject));
  update posthorn_receiver.subjects s
  set applied = case when leave_subject.done then greatest(s.applied, leave_subject.sequence) else s.applied end,
      token = null,
      lease_until = null,
      touched_at = clock_timestamp()
  where s.source = leave_subject.source
    and s.subject = leave_subject.subject
    and s.token = leave_subject.token;
  if found then
    perform posthorn_receiver.wake_subject(leave_subject.source, leave_subject.subject, clock_timestamp());
  end if;
end
$$;

-- What is due of a subject waits for what has it, out of the way of others. The next in line is looked at when the lease
-- ends, the rest when it is woken; the hour is for when nobody wakes it, because the guard is no longer used.
create function posthorn_receiver.park_subject(source text, subject text, until timestamptz) returns void
language plpgsql as $$
#variable_conflict use_column
declare
  moment timestamptz := clock_timestamp();
begin
  update posthorn_receiver.messages m
  set (state, ready_at, token, tries, parked)
    = row (
      'waiting',
      greatest(park_subject.until, moment + interval '1 hour'),
      null,
      posthorn_receiver.tries_of(m),
      true
    )
  where m.ctid = any (array (
    select d.ctid
    from posthorn_receiver.messages d
    where d.source = park_subject.source
      and d.subject = park_subject.subject
      and d.sequence is not null
      and d.body is not null
      and d.ready_at <= moment
    limit 1000
    for update skip locked
  ));
  perform posthorn_receiver.wake_subject(park_subject.source, park_subject.subject, park_subject.until);
end
$$;

-- The next in line, which is the lowest sequence, is due at that moment.
create function posthorn_receiver.wake_subject(source text, subject text, at timestamptz) returns void
language plpgsql as $$
#variable_conflict use_column
begin
  update posthorn_receiver.messages m
  set ready_at = wake_subject.at
  where m.ready_at > wake_subject.at
    and (m.source, m.id) = (
      select p.source, p.id
      from posthorn_receiver.messages p
      where p.source = wake_subject.source
        and p.subject = wake_subject.subject
        and p.parked
      order by p.sequence
      limit 1
      for update skip locked
    );
end
$$;
`;
