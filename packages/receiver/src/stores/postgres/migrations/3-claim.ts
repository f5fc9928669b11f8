// Claim, renew, complete: the functions of lease and transactional mode.
export const claim = `
-- The result for a delivery of a known message; null if it may be claimed.
create function posthorn_receiver.known_as(
  m posthorn_receiver.messages, digest bytea, window_ms double precision, moment timestamptz,
  out kind text, out wait double precision
)
language plpgsql as $$
begin
  if m.id is null or (m.state = 'done' and m.since <= moment - window_ms * interval '1 millisecond') then
    return;
  elsif m.digest <> known_as.digest then
    kind := 'other_body';
  elsif m.state = 'running' and m.ready_at > moment then
    kind := 'running';
    wait := extract(epoch from m.ready_at - moment) * 1000;
  elsif m.state in ('done', 'waiting', 'dead') then
    kind := m.state;
  end if;
end
$$;

-- Failures of a message that may be claimed or accepted. An expired lease counts as one; failures before the window do not.
create function posthorn_receiver.tries_of(m posthorn_receiver.messages) returns integer
language sql immutable as $$
  select case m.state when 'done' then 0 when 'running' then m.tries + 1 else coalesce(m.tries, 0) end
$$;

-- Without a lease, claim, work and completion are one transaction. The row is written as running without a lease, so that a
-- handler that commits itself leaves a message that is claimable at once, with one more failure. Returns the transaction
-- and the row's position for the completion.
create function posthorn_receiver.claim(
  source text, id text, digest bytea, type text, subject text, sequence bigint, created_at timestamptz,
  headers text, body bytea, lease_ms double precision, window_ms double precision, gap_wait_ms double precision,
  out kind text, out wait double precision, out token uuid, out tries integer, out xid text, out place tid
)
language plpgsql as $$
#variable_conflict use_column
declare
  is_mine boolean := pg_try_advisory_xact_lock(posthorn_receiver.message_lock(claim.source, claim.id));
  moment timestamptz := clock_timestamp();
  lease_end timestamptz := moment + claim.lease_ms * interval '1 millisecond';
  m posthorn_receiver.messages;
  is_fresh boolean;
  -- most messages are new and have no subject; each unnecessary function call costs a tenth
  is_guarded boolean := claim.gap_wait_ms is not null and claim.subject is not null and claim.sequence is not null;
  verdict text := 'go';
  until timestamptz;
begin
  select k.* into m
  from posthorn_receiver.messages k
  where k.source = claim.source
    and k.id = claim.id;
  if found then
    select k.kind, k.wait into kind, wait
    from posthorn_receiver.known_as(m, claim.digest, claim.window_ms, moment) k;
  end if;
  if kind is not null then
    return;
  end if;
  -- the default; the wait is unknown
  kind := 'running';
  wait := 1000;
  if not is_mine then
    return;
  end if;

  if m.id is not null then
    -- a worker may be completing it in its transaction, although the lease expired
    perform
    from posthorn_receiver.messages k
    where k.source = claim.source
      and k.id = claim.id
    for update skip locked;
    if not found then
      return;
    end if;
  end if;

  is_fresh := m.id is null or m.state = 'done';
  if is_guarded then
    select g.verdict, g.until into verdict, until
    from posthorn_receiver.guard(
      claim.source, claim.subject, claim.sequence,
      case when is_fresh then moment else m.seen_at end,
      claim.gap_wait_ms, false) g;
  end if;
  if verdict in ('busy', 'gap') then
    kind := case verdict when 'gap' then 'gap' else 'running' end;
    wait := extract(epoch from until - moment) * 1000;
    if not is_fresh then
      return;
    end if;
  end if;

  token := gen_random_uuid();
  tries := posthorn_receiver.tries_of(m);
  insert into posthorn_receiver.messages as k (
    source, id, digest, state, since, ready_at, token, tries, seen_at,
    type, subject, sequence, created_at, headers, body
  )
  select
    claim.source, claim.id, claim.digest, w.state, moment,
    case w.state when 'running' then lease_end end,
    case w.state when 'running' then claim.token end,
    case w.state when 'done' then 0 else claim.tries end,
    case when w.state = 'done' then null when is_fresh then moment else m.seen_at end,
    case w.state when 'running' then claim.type end,
    -- without a lease, the completion keeps the subject of the row
    case when w.state = 'running' and (is_guarded or lease_end is not null) then claim.subject end,
    case when w.state = 'running' and (is_guarded or lease_end is not null) then claim.sequence end,
    case w.state when 'running' then claim.created_at end,
    case w.state when 'running' then claim.headers end,
    case w.state when 'running' then claim.body end
  from (
    select case
      when verdict in ('busy', 'gap') then 'claimable'
      when verdict = 'stale' then 'done'
      else 'running'
    end as state
  ) w
  on conflict (source, id) do update
  set (digest, state, since, ready_at, token, tries, parked, seen_at, error,
       type, subject, sequence, created_at, headers, body)
    = (excluded.digest, excluded.state, excluded.since, excluded.ready_at, excluded.token, excluded.tries, false,
       excluded.seen_at, null,
       excluded.type, excluded.subject, excluded.sequence, excluded.created_at, excluded.headers, excluded.body)
  -- unchanged since it was read; otherwise another process was faster
  where k.state = m.state
    and k.since = m.since
    and k.token is not distinct from m.token
  returning k.ctid into place;
  if not found then
    kind := 'running';
    wait := 1000;
  elsif verdict = 'stale' then
    kind := 'stale';
    perform posthorn_receiver.wake_subject(claim.source, claim.subject, moment);
  elsif verdict = 'go' then
    kind := 'claimed';
    xid := pg_current_xact_id()::text;
    if is_guarded then
      perform posthorn_receiver.enter_subject(
        claim.source, claim.subject, claim.sequence, claim.gap_wait_ms, token, lease_end);
    end if;
  end if;
end
$$;

-- Renews also an expired lease of a message that a transaction held until now: no other process could claim it.
create function posthorn_receiver.renew(
  source text, id text, token uuid, subject text, lease_ms double precision, was_held boolean, out kept boolean
)
language plpgsql as $$
#variable_conflict use_column
declare
  moment timestamptz := clock_timestamp();
  lease_end timestamptz := moment + renew.lease_ms * interval '1 millisecond';
begin
  update posthorn_receiver.messages m
  set ready_at = lease_end
  where (m.source, m.id) = (
    select l.source, l.id
    from posthorn_receiver.messages l
    where l.source = renew.source
      and l.id = renew.id
      and l.token = renew.token
      and (l.ready_at > moment or renew.was_held)
    for update skip locked
  );
  kept := found;
  if kept then
    update posthorn_receiver.subjects s
    set lease_until = lease_end
    where s.source = renew.source
      and s.subject = renew.subject
      and s.token = renew.token;
  else
    -- another process holds the row lock for a moment
    kept := exists (
      select
      from posthorn_receiver.messages l
      where l.source = renew.source
        and l.id = renew.id
        and l.token = renew.token
        and l.ready_at > moment
    );
  end if;
end
$$;

create function posthorn_receiver.set_done(source text, id text) returns void
language sql as $$
  update posthorn_receiver.messages m
  set (state, since, ready_at, token, tries, parked, seen_at, error,
       type, subject, sequence, created_at, headers, body)
    = row ('done', clock_timestamp(), null, null, 0, false, null, null, null, null, null, null, null, null)
  where m.source = set_done.source
    and m.id = set_done.id
$$;

-- False if the lease was lost.
create function posthorn_receiver.complete(
  source text, id text, token uuid, subject text, sequence bigint, out done boolean
)
language plpgsql as $$
#variable_conflict use_column
begin
  perform
  from posthorn_receiver.messages m
  where m.source = complete.source
    and m.id = complete.id
    and m.token = complete.token
    and m.state = 'running'
    and m.ready_at > clock_timestamp()
  for update;
  done := found;
  if done then
    perform posthorn_receiver.set_done(complete.source, complete.id);
    perform posthorn_receiver.leave_subject(
      complete.source, complete.subject, complete.sequence, complete.token, true);
  end if;
end
$$;

-- Prevents claims of the message, and with ordering of its subject, until this transaction ends. Null if the lease was
-- lost.
create function posthorn_receiver.hold(
  source text, id text, token uuid, subject text, out xid text, out place tid
)
language plpgsql as $$
#variable_conflict use_column
begin
  select m.ctid into place
  from posthorn_receiver.messages m
  where m.source = hold.source
    and m.id = hold.id
    and m.token = hold.token
    and m.state = 'running'
    and m.ready_at > clock_timestamp()
  for update;
  if found then
    xid := pg_current_xact_id()::text;
    perform pg_advisory_xact_lock(posthorn_receiver.subject_lock(s.source, s.subject))
    from posthorn_receiver.subjects s
    where s.source = hold.source
      and s.subject = hold.subject
      and s.token = hold.token;
  end if;
end
$$;

-- The completion, last before the commit of a handler's transaction. It must be the transaction that claimed or held the
-- message, so the row's position is unchanged. Indexed columns written by a claim without a lease stay, so that no index
-- entries are added: under SERIALIZABLE they would conflict with other claims.
create function posthorn_receiver.finish(xid text, place tid, token uuid) returns text
language plpgsql as $$
#variable_conflict use_column
declare
  m posthorn_receiver.messages;
begin
  if pg_current_xact_id_if_assigned()::text is distinct from finish.xid then
    raise exception using
      errcode = 'PH001',
      message = 'The handler ended the transaction it was given.';
  end if;
  select k.* into strict m
  from posthorn_receiver.messages k
  where k.ctid = finish.place
    and k.token = finish.token;
  update posthorn_receiver.messages k
  set (state, since, ready_at, token, tries, seen_at, error, type, subject, sequence, created_at, headers, body)
    = row ('done', case when m.body is null then m.since else clock_timestamp() end,
       null, null, 0, null, null, null,
       case when m.body is null then m.subject end, case when m.body is null then m.sequence end, null, null, null)
  where k.ctid = finish.place;
  perform posthorn_receiver.leave_subject(m.source, m.subject, m.sequence, m.token, true)
  where m.subject is not null;
  return finish.xid;
end
$$;
`;
