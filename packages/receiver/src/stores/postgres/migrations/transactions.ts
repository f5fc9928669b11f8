// Claim, hold, finish: the procedures of a handler's transaction. They get single values and return one text: together with the
// planning, which a call does without, that halves the cost of a query with a row in each direction.
// A cast of a parameter costs a hundredth of its call.
export const transactions = `
-- Claims a message without a lease. Returns the kind and the wait in milliseconds or, if it is claimed, the failures so far and
-- the hold: the transaction's id and, if a row was written, its position and the token.
--
-- A new message without a subject is only locked, and its row is inserted when it is done: that saves an update and a dead row,
-- a tenth of the whole transaction. This needs READ COMMITTED, where the owner of the lock sees what its previous owner committed.
-- At other levels the row is written at once: under REPEATABLE READ a conflict is found before the handler runs, and under
-- SERIALIZABLE handlers that read before they insert would conflict with each other.
create procedure posthorn_receiver.claim_in_transaction(
  source text, id text, digest text, subject text, sequence bigint,
  window_ms double precision, gap_wait_ms double precision, inout claimed text
)
language plpgsql as $$
declare
  is_mine boolean := pg_try_advisory_xact_lock(
    posthorn_receiver.message_lock(claim_in_transaction.source, claim_in_transaction.id));
  known_state text;
  known_digest bytea;
  known_since timestamptz;
  m posthorn_receiver.messages;
  claim record;
begin
  -- single values, because reading the whole row costs as much as the lock
  select k.state, k.digest, k.since into known_state, known_digest, known_since
  from posthorn_receiver.messages k
  where (k.source, k.id) = (claim_in_transaction.source, claim_in_transaction.id);
  -- most messages are new, and most others are done; the rest takes twice as long
  if known_state is null
    and is_mine
    and claim_in_transaction.subject is null
    and current_setting('transaction_isolation') = 'read committed'
  then
    claimed := 'claimed 0 ' || pg_current_xact_id()::text;
    return;
  elsif known_state = 'done'
    and known_digest = decode(claim_in_transaction.digest, 'hex')
    and known_since > clock_timestamp() - window_ms * interval '1 millisecond'
  then
    claimed := 'done';
    return;
  end if;

  m.source := claim_in_transaction.source;
  m.id := claim_in_transaction.id;
  m.digest := decode(claim_in_transaction.digest, 'hex');
  m.subject := claim_in_transaction.subject;
  m.sequence := claim_in_transaction.sequence;
  claim := posthorn_receiver.claim(m, null, window_ms, gap_wait_ms);
  claimed := case
    when claim.kind = 'claimed' then concat_ws(' ', 'claimed', claim.failures, claim.xid, claim.place, claim.token)
    else concat_ws(' ', claim.kind, claim.wait)
  end;
end
$$;

-- Prevents claims of a message with a lease, and with ordering of its subject, until this transaction ends. Returns the hold;
-- null if the lease was lost.
create function posthorn_receiver.hold(source text, id text, subject text, token uuid) returns text
language plpgsql as $$
declare
  place tid;
begin
  select m.ctid into place
  from posthorn_receiver.messages m
  where (m.source, m.id, m.token) = (hold.source, hold.id, hold.token)
    and m.state = 'running'
    and m.ready_at > clock_timestamp()
  for update;
  if not found then
    return null;
  end if;
  perform pg_advisory_xact_lock(posthorn_receiver.subject_lock(s.source, s.subject))
  from posthorn_receiver.subjects s
  where (s.source, s.subject, s.token) = (hold.source, hold.subject, hold.token);
  return concat_ws(' ', pg_current_xact_id(), place, hold.token);
end
$$;

create procedure posthorn_receiver.reject_ended_transaction()
language plpgsql as $$
begin
  raise exception using
    errcode = 'PH001',
    message = 'The handler ended the transaction it was given.';
end
$$;

-- The completion of a new message, last before the commit of the transaction that claimed it.
create procedure posthorn_receiver.finish_new(xid xid8, source text, id text, digest text)
language plpgsql as $$
begin
  if pg_current_xact_id_if_assigned() is distinct from finish_new.xid then
    call posthorn_receiver.reject_ended_transaction();
  end if;
  insert into posthorn_receiver.messages (source, id, digest, state, since)
  values (finish_new.source, finish_new.id, decode(finish_new.digest, 'hex'), 'done', clock_timestamp());
end
$$;

-- The same for a message that has a row. It must be the transaction that claimed or held it, so the row's position is unchanged. Indexed columns written by a claim without a lease stay, so that no index
-- entries are added: under SERIALIZABLE they would conflict with other claims.
create procedure posthorn_receiver.finish(xid xid8, place tid, token uuid)
language plpgsql as $$
declare
  m posthorn_receiver.messages;
begin
  if pg_current_xact_id_if_assigned() is distinct from finish.xid then
    call posthorn_receiver.reject_ended_transaction();
  end if;
  select k.* into strict m
  from posthorn_receiver.messages k
  where k.ctid = finish.place
    and k.token = finish.token;
  update posthorn_receiver.messages k
  set (state, since, ready_at, token, failures, seen_at, error, type, subject, sequence, created_at, headers, body)
    = row ('done', case when m.body is null then m.since else clock_timestamp() end,
       null, null, 0, null, null, null,
       case when m.body is null then m.subject end, case when m.body is null then m.sequence end, null, null, null)
  where k.ctid = finish.place;
  perform posthorn_receiver.leave_subject(m.source, m.subject, m.sequence, m.token, true)
  where m.subject is not null;
end
$$;
`;
