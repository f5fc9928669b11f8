-- What people and programs changed. An entry is written before the change is tried and completed after it, so that a
-- process that dies in between leaves one whose end is not known, never a change without an entry.

create table posthorn.audit_log (
  id uuid primary key default posthorn.uuidv7(posthorn.now()),
  -- admin, key or member
  actor_kind text not null,
  -- the key's or token's id; null for the admin key
  actor_id text,
  actor_user text,
  -- whom it concerned; null: the whole installation
  tenant text,
  -- an operation of the contract, such as endpoints.update
  action text not null,
  -- what it was about: the ids in the path, and that of what was made
  target jsonb not null,
  -- what was asked for, without secrets
  changes jsonb,
  -- the answer's status; null: not known
  status smallint,
  error_code text,
  request_id text not null,
  address text
);
create index audit_log_of_tenant on posthorn.audit_log (tenant, id);
