-- API keys, sessions and the audit log.

-- API keys and members' tokens. Only a digest is stored.
create table posthorn.api_keys (
  -- the public part: phk_<id>_…
  id text primary key,
  -- SHA-256 of the whole key; its content is random, so no slow hash is needed
  digest bytea not null,
  name text not null,
  -- null: valid for the whole installation
  tenant text references posthorn.tenants (id) on delete cascade,
  -- the member whose token it is; its scopes are those of the member's current role
  user_id text,
  scopes text[] not null,
  -- requests per second and process; null: the deployment default
  rate_limit integer,
  created_at timestamptz not null default posthorn.now(),
  expires_at timestamptz,
  -- precise to the minute
  last_used_at timestamptz,
  foreign key (tenant, user_id) references posthorn.members (tenant, user_id) on delete cascade
);
create index api_keys_of_tenant on posthorn.api_keys (tenant, id);

-- Sessions in the dashboard and the portal. A session starts with a one-time link or an API key. Only a digest of the
-- link's code and of the cookie is stored.
create table posthorn.sessions (
  -- the public part: phl_<id>_… of the link, phs_<id>_… of the cookie
  id text primary key,
  -- digest of the link's code until it is used, then of the cookie. For an operator it is an HMAC keyed with the admin
  -- key's digest, so that changing the admin key ends the session.
  digest bytea not null,
  -- false: an unused link
  is_open boolean not null,
  -- the key or token used to sign in; deleting it ends the session
  key_id text references posthorn.api_keys (id) on delete cascade,
  -- set for a portal session; with neither key nor tenant it is an operator's session, opened with the admin key
  tenant text references posthorn.tenants (id) on delete cascade,
  -- the member it acts as, with the member's current role
  user_id text,
  -- upper bound of its permissions; null: those of the key or of the member's role
  scopes text[],
  -- how long it lasts after the link is used
  open_seconds integer not null,
  created_at timestamptz not null default posthorn.now(),
  -- end of the link, then of the session
  expires_at timestamptz not null,
  -- sessions with the same owner count towards the same limit
  owner text not null generated always as (coalesce('key ' || key_id, 'tenant ' || tenant, 'admin')) stored,
  foreign key (tenant, user_id) references posthorn.members (tenant, user_id) on delete cascade
);
create index sessions_of_owner on posthorn.sessions (owner, created_at);
create index sessions_of_tenant on posthorn.sessions (tenant, user_id);
create index sessions_of_key on posthorn.sessions (key_id);
create index sessions_by_end on posthorn.sessions (expires_at);

-- Every change made through the API or the library. An entry is written before the change and completed after it, so a crash leaves an
-- entry with an unknown result, never a change without an entry.
create table posthorn.audit_log (
  id uuid primary key default posthorn.uuidv7(posthorn.now()),
  -- admin, key, member, portal, library, or system: a consequence of another change
  actor_kind text not null,
  -- id of the key or token, or the name that the library's user gave; null: the admin key
  actor_id text,
  actor_user text,
  -- tenant of the actor's key or token; null: a key of the installation. A tenant that reads its entries sees neither the
  -- operator's user nor address.
  actor_tenant text,
  -- the affected tenant; null: the whole installation
  tenant text,
  -- an operation of the API, such as endpoints.update
  action text not null,
  -- ids in the path, and the id of what was created
  target jsonb not null,
  -- the request body without secrets
  changes jsonb,
  -- status of the response; null: unknown
  status smallint,
  error_code text,
  -- how many dead letters or rejected events a filter changed; null: another operation
  affected integer,
  -- null: a change through the library
  request_id text,
  address text
);
create index audit_log_of_tenant on posthorn.audit_log (tenant, id);
