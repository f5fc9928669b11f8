-- Sessions of people in the dashboard and the portal. One begins as a one-time link, or with a key; of the code and of
-- the cookie only a digest is kept.

create table posthorn.sessions (
  -- the part that may be shown: phl_<id>_… of the link, phs_<id>_… of the cookie
  id text primary key,
  -- of the link's code until it is used, then of the cookie; of an operator's with the admin key's digest as the key of
  -- an HMAC, so that a changed admin key ends it
  digest bytea not null,
  -- false: a link that nobody has used yet
  is_open boolean not null,
  -- the key or token that was signed in with; its end is the session's
  key_id text references posthorn.api_keys (id) on delete cascade,
  -- of a portal session; with neither a key nor a tenant it is an operator's, by the admin key
  tenant text references posthorn.tenants (id) on delete cascade,
  -- the member it acts as, in the role they have when they use it
  user_id text,
  -- what it may do at most; null: all that the key, or the member's role, may
  scopes text[],
  -- how long it lasts once the link is used
  open_seconds integer not null,
  created_at timestamptz not null default posthorn.now(),
  -- the link's end, then the session's
  expires_at timestamptz not null,
  -- whose sessions are counted together
  owner text not null generated always as (coalesce('key ' || key_id, 'tenant ' || tenant, 'admin')) stored,
  foreign key (tenant, user_id) references posthorn.members (tenant, user_id) on delete cascade
);
create index sessions_of_owner on posthorn.sessions (owner, created_at);
create index sessions_of_tenant on posthorn.sessions (tenant, user_id);
create index sessions_of_key on posthorn.sessions (key_id);
create index sessions_by_end on posthorn.sessions (expires_at);
