-- What happens around a disabled endpoint: who belongs to a tenant and is told, and what is still to be told.

create table posthorn.members (
  tenant text not null references posthorn.tenants (id) on delete cascade,
  user_id text not null,
  role text not null,
  email text,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now(),
  primary key (tenant, user_id)
);

-- That an endpoint was disabled, still to be told over one channel or told already. Written in the transaction that
-- disables. What it says is read when it is sent, from the endpoint and its attempts.
create table posthorn.notices (
  id uuid primary key default posthorn.uuidv7(posthorn.now()),
  channel text not null,
  endpoint_id uuid not null references posthorn.endpoints (id) on delete cascade,
  -- which of its disablings: one that was enabled meanwhile has nothing left to tell
  disabled_at timestamptz not null,
  -- addresses that have it already, so that one that fails costs the others no second copy
  told text[] not null default '{}',
  attempts integer not null default 0,
  -- when it is due; moved ahead while somebody sends it, null when it was sent or given up
  next_at timestamptz default posthorn.now(),
  last_error text
);
create index notices_due on posthorn.notices (channel, next_at) where next_at is not null;
create index notices_of_endpoint on posthorn.notices (endpoint_id);
