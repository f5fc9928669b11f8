// The tables. A done message keeps its key, its digest, a time and possibly its subject; all other columns are null.
export const tables = `
create table posthorn_receiver.messages (
  source text not null,
  id text not null,
  digest bytea not null,
  type text,
  subject text,
  sequence bigint,
  created_at timestamptz,
  headers text,
  -- null if claimable, because the sender has it, and if done, because it is no longer needed
  body bytea,
  token uuid,
  error text,
  -- claimable, running, waiting, dead or done. Only the functions write it: a check would cost a tenth of an insert
  state text not null,
  -- when it entered this state; in milliseconds, because dead letters are paged by it
  since timestamptz(3) not null,
  -- when it may be claimed: a waiting one when it is due, a running one when its lease expires; null if it runs without
  -- a lease, which is visible only if its handler ended the transaction of the claim
  ready_at timestamptz,
  failures integer not null default 0,
  -- waits for another message of its subject, which wakes it
  parked boolean not null default false,
  -- the wait for a gap begins here
  seen_at timestamptz,
  primary key (source, id)
);

-- claim_due
create index messages_ready on posthorn_receiver.messages (ready_at)
  where body is not null and ready_at is not null;

-- due messages of a subject
create index messages_subject on posthorn_receiver.messages (source, subject, ready_at)
  where body is not null and ready_at is not null and subject is not null;

-- the next message of a subject
create index messages_parked on posthorn_receiver.messages (source, subject, sequence)
  where parked;

-- list and count dead letters; no index contains the state, so that completing a claim without a lease needs no new
-- index entries (a HOT update)
create index messages_dead on posthorn_receiver.messages (since, source, id)
  where body is not null and ready_at is null;

-- prune
create index messages_since on posthorn_receiver.messages (since)
  where body is null;

-- rows are inserted, updated a few times and deleted: by default autovacuum runs too late for millions of them
alter table posthorn_receiver.messages set (autovacuum_vacuum_scale_factor = 0.05);

create table posthorn_receiver.subjects (
  source text not null,
  subject text not null,
  applied bigint,
  -- of the subject's claimed message
  token uuid,
  lease_until timestamptz,
  touched_at timestamptz not null,
  primary key (source, subject)
);

create index subjects_touched on posthorn_receiver.subjects (touched_at);
`;

/** The end of an insert that replaces a message. */
export const replaceMessage = `set (
    digest, type, subject, sequence, created_at, headers, body, token, error, state, since, ready_at, failures, parked, seen_at
  ) = (
    excluded.digest, excluded.type, excluded.subject, excluded.sequence, excluded.created_at, excluded.headers,
    excluded.body, excluded.token, excluded.error, excluded.state, excluded.since, excluded.ready_at, excluded.failures,
    excluded.parked, excluded.seen_at
  )`;
