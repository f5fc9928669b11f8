-- Keys and members' tokens: of the whole of it only a digest is kept.

create table posthorn.api_keys (
  -- the part that may be shown: phk_<id>_…
  id text primary key,
  -- sha-256 of the whole text; what is in it is random, so that needs no slow hash
  digest bytea not null,
  name text not null,
  -- null: of the whole installation
  tenant text references posthorn.tenants (id) on delete cascade,
  -- whose token it is; its scopes are then those of the member's role, as it is when it is used
  user_id text,
  scopes text[] not null,
  -- requests a second, for each process; null: as the deployment is set
  rate_limit integer,
  created_at timestamptz not null default posthorn.now(),
  expires_at timestamptz,
  -- to the minute
  last_used_at timestamptz,
  foreign key (tenant, user_id) references posthorn.members (tenant, user_id) on delete cascade
);
create index api_keys_of_tenant on posthorn.api_keys (tenant, id);
