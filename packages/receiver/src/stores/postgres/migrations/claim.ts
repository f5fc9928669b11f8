// Claim, renew, complete: the functions of lease mode. Transactional mode claims messages that are not new with them.
import { replaceMessage } from "./tables.ts";

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
create function posthorn_receiver.failures_of(m posthorn_receiver.messages) returns integer
language sql immutable as $$
  select case m.state when 'done' then 0 when 'running' then m.failures + 1 else coalesce(m.failures, 0) end
$$;

-- Without a lease, claim, work and completion are one transaction. The row is written as running without a lease, so that a
-- handler that commits itself leaves a message that is claimable at once, with one more failure. Returns the transaction
-- and the row's position for the completion.
create function posthorn_receiver.claim(
  given posthorn_receiver.messages, lease_ms double precision, window_ms double precision, gap_wait_ms double precision,
  out kind text, out wait double precision, out token text, out failures integer, out xid text, out place text
)
language plpgsql as $$
declare
  is_mine boolean := pg_try_advisory_xact_lock(posthorn_receiver.message_lock(given.source, given.id));
  moment timestamptz := clock_timestamp();
  lease_end timestamptz := moment + lease_ms * interval '1 millisecond';
  m posthorn_receiver.messages;
  written posthorn_receiver.messages;
  is_fresh boolean;
  -- most messages are new and have no subject; each unnecessary function call costs a tenth
  is_guarded boolean := gap_wait_ms is not null and given.subject is not null and given.sequence is not null;
  verdict text := 'go';
  until timestamptz;
begin
  select k.* into m
  from posthorn_receiver.messages k
  where (k.source, k.id) = (given.source, given.id);
  if found then
    select k.kind, k.wait into kind, wait
    from posthorn_receiver.known_as(m, given.digest, window_ms, moment) k;
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
    where (k.source, k.id) = (given.source, given.id)
    for update skip locked;
    if not found then
      return;
    end if;
  end if;

  is_fresh := m.id is null or m.state = 'done';
  given.seen_at := case when is_fresh then moment else m.seen_at end;
  if is_guarded then
    select g.verdict, g.until into verdict, until
    from posthorn_receiver.guard(
      given.source, given.subject, given.sequence, given.seen_at, gap_wait_ms, false) g;
  end if;
  if verdict in ('busy', 'gap') then
    kind := case verdict when 'gap' then 'gap' else 'running' end;
    wait := extract(epoch from until - moment) * 1000;
    if not is_fresh then
      return;
    end if;
  end if;

  failures := posthorn_receiver.failures_of(m);
  if verdict = 'go' then
    written := given;
    written.state := 'running';
    written.ready_at := lease_end;
    written.token := gen_random_uuid();
    -- without a lease, the completion keeps the subject of the row
    if not is_guarded and lease_end is null then
      written.subject := null;
      written.sequence := null;
    end if;
  else
    written.source := given.source;
    written.id := given.id;
    written.digest := given.digest;
    written.state := case verdict when 'stale' then 'done' else 'claimable' end;
    written.seen_at := case when verdict <> 'stale' then given.seen_at end;
  end if;
  written.since := moment;
  written.failures := case verdict when 'stale' then 0 else failures end;
  written.parked := false;
  insert into posthorn_receiver.messages as k
  values (written.*)
  on conflict (source, id) do update
  ${replaceMessage}
  -- unchanged since it was read; otherwise another process was faster
  where k.state = m.state
    and k.since = m.since
    and k.token is not distinct from m.token
  returning k.ctid::text into place;
  if not found then
    kind := 'running';
    wait := 1000;
  elsif verdict = 'stale' then
    kind := 'stale';
    perform posthorn_receiver.wake_subject(given.source, given.subject, moment);
  elsif verdict = 'go' then
    kind := 'claimed';
    token := written.token::text;
    xid := pg_current_xact_id()::text;
    if is_guarded then
      perform posthorn_receiver.enter_subject(given.source, given.subject, written.token, lease_end);
    end if;
  end if;
end
$$;

-- Renews also an expired lease of a message that a transaction held until now: no other process could claim it.
create function posthorn_receiver.renew(
  given posthorn_receiver.messages, lease_ms double precision, was_held boolean, out kept boolean
)
language plpgsql as $$
declare
  moment timestamptz := clock_timestamp();
  lease_end timestamptz := moment + lease_ms * interval '1 millisecond';
begin
  update posthorn_receiver.messages m
  set ready_at = lease_end
  where (m.source, m.id) = (
    select l.source, l.id
    from posthorn_receiver.messages l
    where (l.source, l.id, l.token) = (given.source, given.id, given.token)
      and (l.ready_at > moment or was_held)
    for update skip locked
  );
  kept := found;
  if kept then
    update posthorn_receiver.subjects s
    set lease_until = lease_end
    where (s.source, s.subject, s.token) = (given.source, given.subject, given.token);
  else
    -- another process holds the row lock for a moment
    kept := exists (
      select
      from posthorn_receiver.messages l
      where (l.source, l.id, l.token) = (given.source, given.id, given.token)
        and l.ready_at > moment
    );
  end if;
end
$$;

create function posthorn_receiver.set_done(source text, id text) returns void
language sql as $$
  update posthorn_receiver.messages m
  set (state, since, ready_at, token, failures, parked, seen_at, error,
       type, subject, sequence, created_at, headers, body)
    = row ('done', clock_timestamp(), null, null, 0, false, null, null, null, null, null, null, null, null)
  where (m.source, m.id) = (set_done.source, set_done.id)
$$;

-- False if the lease was lost.
create function posthorn_receiver.complete(given posthorn_receiver.messages, out done boolean)
language plpgsql as $$
begin
  done := posthorn_receiver.hold(given.source, given.id, given.subject, given.token) is not null;
  if done then
    perform posthorn_receiver.set_done(given.source, given.id);
    perform posthorn_receiver.leave_subject(given.source, given.subject, given.sequence, given.token, true);
  end if;
end
$$;
`;
