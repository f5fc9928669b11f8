// What the store keeps. A message that is done needs its key, its digest and a time; its subject may be left, all else in its row is null.
export const tables = `
create table posthorn_receiver.messages (
  source text not null,
  id text not null,
  digest bytea not null,
  state text not null check (state in ('claimable', 'running', 'waiting', 'dead', 'done')),
  -- in this state since; in milliseconds, because dead letters are paged through by it
  since timestamptz(3) not null,
  -- when it may be taken: a waiting one when it is due, a running one when its lease ends; null for one that runs
  -- without a lease, which can be seen only when its handler ended the transaction of the claim
  ready_at timestamptz,
  token uuid,
  tries integer not null default 0,
  -- it waits for another message of its subject, which wakes it
  parked boolean not null default false,
  -- a gap before it is waited for from here
  seen_at timestamptz,
  error text,
  type text,
  subject text,
  sequence bigint,
  created_at timestamptz,
  headers text,
  -- of what a worker or a person may still need; the sender has it of what is claimable, and nobody needs it when done
  body bytea,
  primary key (source, id)
);

-- take
create index messages_ready on posthorn_receiver.messages (ready_at)
  where body is not null and ready_at is not null;

-- what is due of a subject
create index messages_subject on posthorn_receiver.messages (source, subject, ready_at)
  where body is not null and ready_at is not null and subject is not null;

-- which of a subject is next
create index messages_parked on posthorn_receiver.messages (source, subject, sequence)
  where parked;

-- list and count dead letters; no index looks at the state, so that the done mark of a claim without a lease needs no
-- new entry in any of them (a HOT update)
create index messages_dead on posthorn_receiver.messages (since, source, id)
  where body is not null and ready_at is null;

-- prune
create index messages_since on posthorn_receiver.messages (since)
  where body is null;

-- inserted once and updated at most a few times, then deleted: what autovacuum does by default comes late for millions
alter table posthorn_receiver.messages set (autovacuum_vacuum_scale_factor = 0.05);

create table posthorn_receiver.subjects (
  source text not null,
  subject text not null,
  applied bigint,
  -- of the one message of this subject that is claimed
  token uuid,
  lease_until timestamptz,
  touched_at timestamptz not null,
  primary key (source, subject)
);

create index subjects_touched on posthorn_receiver.subjects (touched_at);
`;
