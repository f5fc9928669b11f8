// Accept, claim due messages, fail: the functions of the inbox and the dead letters.
import { replaceMessage } from "./tables.ts";

export const inbox = `
create function posthorn_receiver.accept(
  given posthorn_receiver.messages, window_ms double precision, out kind text, out wait double precision
)
language plpgsql as $$
declare
  -- shared between accepts; fails while another process claims it, perhaps in a handler's transaction
  is_free boolean := pg_try_advisory_xact_lock_shared(posthorn_receiver.message_lock(given.source, given.id));
  moment timestamptz := clock_timestamp();
  m posthorn_receiver.messages;
begin
  given.state := 'waiting';
  given.since := moment;
  given.ready_at := moment;
  given.parked := false;
  -- repeated if another process accepted it meanwhile
  for try in 1..2 loop
    select k.* into m
    from posthorn_receiver.messages k
    where (k.source, k.id) = (given.source, given.id);
    select coalesce(k.kind, case when m.state = 'running' and m.body is not null then 'waiting' end), k.wait into kind, wait
    from posthorn_receiver.known_as(m, given.digest, window_ms, moment) k;
    exit when kind is not null or not is_free;

    given.failures := posthorn_receiver.failures_of(m);
    given.seen_at := coalesce(m.seen_at, moment);
    given.error := m.error;
    insert into posthorn_receiver.messages as k
    values (given.*)
    on conflict (source, id) do update
    ${replaceMessage}
    where k.state = m.state
      and k.since = m.since
      and k.token is not distinct from m.token;
    if found then
      kind := 'accepted';
      return;
    end if;
  end loop;
  if kind is null then
    kind := 'running';
    wait := 1000;
  end if;
end
$$;

-- Claims due messages, and parks those that must wait for their subject, so that they do not slow down the next call. An
-- empty last row means that there are more to examine.
create function posthorn_receiver.claim_due(
  most integer, lease_ms double precision, gap_wait_ms double precision
) returns setof posthorn_receiver.messages
language plpgsql as $$
declare
  most_looks constant integer := claim_due.most + case when claim_due.gap_wait_ms is null then 0 else 200 end;
  moment timestamptz := clock_timestamp();
  looks integer := 0;
  claimed integer := 0;
  due record;
  started posthorn_receiver.messages;
begin
  for due in
    select m.source, m.id, m.subject, m.sequence
    from posthorn_receiver.messages m
    where m.body is not null
      and m.ready_at <= moment
    order by m.ready_at
    limit most_looks
    for update skip locked
  loop
    exit when claimed = claim_due.most;
    looks := looks + 1;
    if claim_due.gap_wait_ms is null or due.subject is null or due.sequence is null then
      started := posthorn_receiver.start(due.source, due.id, claim_due.lease_ms, null);
    else
      started := posthorn_receiver.start_lowest(due.source, due.subject, claim_due.lease_ms, claim_due.gap_wait_ms);
    end if;
    if started.id is not null then
      claimed := claimed + 1;
      return next started;
    end if;
  end loop;
  if claimed < claim_due.most and looks = most_looks then
    return next null::posthorn_receiver.messages;
  end if;
end
$$;

create function posthorn_receiver.claim_one(
  source text, id text, lease_ms double precision, gap_wait_ms double precision
) returns setof posthorn_receiver.messages
language plpgsql as $$
begin
  perform
  from posthorn_receiver.messages m
  where (m.source, m.id) = (claim_one.source, claim_one.id)
    and m.body is not null
    and m.ready_at <= clock_timestamp()
  for update skip locked;
  if found then
    return query
    select s.*
    from posthorn_receiver.start(claim_one.source, claim_one.id, lease_ms, gap_wait_ms) s
    where s.id is not null;
  end if;
end
$$;

-- Claims the lowest due sequence of a subject that is not stale.
create function posthorn_receiver.start_lowest(
  source text, subject text, lease_ms double precision, gap_wait_ms double precision
) returns posthorn_receiver.messages
language plpgsql as $$
declare
  moment timestamptz := clock_timestamp();
  until timestamptz;
  lowest text;
  started posthorn_receiver.messages;
begin
  -- first, because finding the lowest one reads all due messages
  select g.until into until
  from posthorn_receiver.guard(start_lowest.source, start_lowest.subject, 0, moment, 0, true) g
  where g.verdict = 'busy';
  if found then
    perform posthorn_receiver.park_subject(start_lowest.source, start_lowest.subject, until);
    return null;
  end if;
  for try in 1..200 loop
    select m.id into lowest
    from posthorn_receiver.messages m
    where (m.source, m.subject) = (start_lowest.source, start_lowest.subject)
      and m.sequence is not null
      and m.body is not null
      and m.ready_at <= moment
    order by m.sequence
    limit 1
    for update skip locked;
    exit when lowest is null;
    started := posthorn_receiver.start(
      start_lowest.source, lowest, start_lowest.lease_ms, start_lowest.gap_wait_ms);
    exit when started.id is not null or not exists (
      select
      from posthorn_receiver.messages m
      where (m.source, m.id) = (start_lowest.source, lowest)
        and m.state = 'done'
    );
  end loop;
  return started;
end
$$;

-- Claims one due, locked message, completes it if it is stale, or parks it.
create function posthorn_receiver.start(
  source text, id text, lease_ms double precision, gap_wait_ms double precision
) returns posthorn_receiver.messages
language plpgsql as $$
declare
  moment timestamptz := clock_timestamp();
  lease_end timestamptz := moment + start.lease_ms * interval '1 millisecond';
  m posthorn_receiver.messages;
  verdict text;
  until timestamptz;
begin
  select k.* into m
  from posthorn_receiver.messages k
  where (k.source, k.id) = (start.source, start.id);
  select g.verdict, g.until into verdict, until
  from posthorn_receiver.guard(m.source, m.subject, m.sequence, m.seen_at, start.gap_wait_ms, true) g;

  if verdict = 'busy' then
    perform posthorn_receiver.park_subject(m.source, m.subject, until);
    return null;
  elsif verdict = 'gap' then
    update posthorn_receiver.messages k
    set (state, ready_at, token, failures, parked)
      = row ('waiting', until, null, posthorn_receiver.failures_of(k), true)
    where (k.source, k.id) = (m.source, m.id);
    return null;
  elsif verdict = 'stale' then
    perform posthorn_receiver.set_done(m.source, m.id);
    perform posthorn_receiver.wake_subject(m.source, m.subject, moment);
    return null;
  end if;

  update posthorn_receiver.messages k
  set (state, since, ready_at, token, failures, parked)
    = row ('running', moment, lease_end, gen_random_uuid(), posthorn_receiver.failures_of(k), false)
  where (k.source, k.id) = (m.source, m.id)
  returning k.* into m;
  if start.gap_wait_ms is not null and m.subject is not null and m.sequence is not null then
    perform posthorn_receiver.enter_subject(m.source, m.subject, m.token, lease_end);
    perform posthorn_receiver.park_subject(m.source, m.subject, lease_end);
  end if;
  return m;
end
$$;

-- With a token: false if its lease was lost. Without: called after a rolled-back claim; a message that is done or claimed
-- since is left unchanged. The body is given if the message is to be stored. The lock time-out matters if a handler timed
-- out and its statement still holds the row: the message is then claimable when its lease expires.
create function posthorn_receiver.fail(
  given posthorn_receiver.messages, after_ms double precision, window_ms double precision, out kept boolean
)
language plpgsql set lock_timeout = '1s' as $$
declare
  moment timestamptz;
  m posthorn_receiver.messages;
  written posthorn_receiver.messages := given;
begin
  kept := given.token is not null
    or pg_try_advisory_xact_lock(posthorn_receiver.message_lock(given.source, given.id));
  if not kept then
    return;
  end if;
  select k.* into m
  from posthorn_receiver.messages k
  where (k.source, k.id) = (given.source, given.id)
  for update;
  moment := clock_timestamp();
  if m.state = 'done' and m.since <= moment - window_ms * interval '1 millisecond' then
    m := null;
  end if;
  kept := case
    when given.token is not null then m.token = given.token and m.ready_at > moment
    else m.id is null or m.state = 'claimable' or (m.state = 'running' and (m.ready_at is null or m.ready_at <= moment))
  end is true;
  if not kept then
    return;
  end if;
  written.since := moment;
  written.ready_at := case given.state when 'waiting' then moment + after_ms * interval '1 millisecond' end;
  written.token := null;
  -- a claim that its own handler committed is this attempt, not an earlier one
  written.failures := 1 + case
    when given.token is not null or (m.state = 'running' and m.ready_at is null) then m.failures
    else posthorn_receiver.failures_of(m)
  end;
  written.parked := false;
  written.seen_at := coalesce(m.seen_at, moment);
  if given.body is null then
    written.subject := null;
    written.sequence := null;
  end if;
  insert into posthorn_receiver.messages
  values (written.*)
  on conflict (source, id) do update
  ${replaceMessage};
  perform posthorn_receiver.leave_subject(given.source, given.subject, given.sequence, given.token, false);
end
$$;
`;
