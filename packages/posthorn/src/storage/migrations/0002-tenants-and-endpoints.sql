-- Tenants, their members, and the endpoints they registered.

create table posthorn.tenants (
  id text primary key,
  name text,
  is_active boolean not null default true,
  -- incremented with every change to the tenant's endpoints; publishers compare it with the version of their cached routes
  routing_version bigint not null default 1,
  -- event types that anyone may read and subscribe to through the WebSub hub; null: none
  websub_topics text[],
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now()
);

-- Ids of deleted tenants. Their events, deliveries, idempotency keys and audit entries still exist, so the id cannot be
-- used for another tenant.
create table posthorn.deleted_tenants (
  tenant text primary key,
  deleted_at timestamptz not null default posthorn.now()
);

-- People who belong to a tenant, with their role and the address for notifications.
create table posthorn.members (
  tenant text not null references posthorn.tenants (id) on delete cascade,
  user_id text not null,
  role text not null,
  email text,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now(),
  primary key (tenant, user_id)
);
-- finds the tenants of a user when an event is published for that user
create index members_of_user on posthorn.members (user_id, tenant);

-- A URL that receives events, with its settings. Null in a setting means: the deployment default.
create table posthorn.endpoints (
  id uuid primary key,
  tenant text not null references posthorn.tenants (id),
  url text not null,
  -- null: the host of the URL is shown
  name text,
  description text,
  -- patterns of event types
  events text[] not null,
  -- conditions on the payload; null: none
  filter jsonb,
  is_active boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz,
  format text,
  -- other names of the envelope's fields
  envelope_fields jsonb,
  -- collects events into batches; null: each event is sent alone
  batch jsonb,
  signature jsonb,
  -- where the token in endpoint_secrets is sent; null: there is none
  authorization_type text check (authorization_type in ('bearer', 'query')),
  user_agent text,
  headers jsonb,
  timeout_ms integer,
  max_in_flight integer,
  -- the limit up to which it grows while the endpoint responds fast; null: max_in_flight if that is set, else the
  -- deployment default
  max_in_flight_burst integer,
  -- attempts per second
  rate_limit integer,
  retry_policy jsonb,
  retry_on text,
  circuit_breaker jsonb,
  disable_after jsonb,
  -- fifo or none
  ordering text,
  -- whether a dead delivery holds its subject (hold) or not (pass)
  fifo_on_dead text,
  -- the next four are set for WebSub subscriptions only: the topic URL, the digest of the normalized topic and callback,
  -- the host of the callback, and the end of the lease
  websub_topic text,
  websub_pair bytea,
  websub_host text,
  lease_ends_at timestamptz,
  version bigint not null default 1,
  created_at timestamptz not null default posthorn.now(),
  updated_at timestamptz not null default posthorn.now(),
  -- a deleted endpoint remains while its history refers to it
  deleted_at timestamptz
);
create index endpoints_of_tenant on posthorn.endpoints (tenant, id) where deleted_at is null;
-- counted for the metrics; empty in a healthy installation
create index endpoints_disabled on posthorn.endpoints (id) where not is_active and deleted_at is null;
create unique index endpoints_of_websub_pair on posthorn.endpoints (websub_pair)
  where websub_pair is not null and deleted_at is null;
create index endpoints_of_websub_host on posthorn.endpoints (websub_host)
  where websub_host is not null and deleted_at is null;
create index endpoints_of_lease on posthorn.endpoints (lease_ends_at)
  where lease_ends_at is not null and deleted_at is null;

-- Secrets, encrypted with the key named in key_id. Several are valid at once during a rotation.
create table posthorn.endpoint_secrets (
  id uuid primary key,
  endpoint_id uuid not null references posthorn.endpoints (id) on delete cascade,
  key_id text not null,
  ciphertext bytea not null,
  -- the name of the signature scheme that uses it, such as stripe; null: every scheme without a secret of its own;
  -- authorization: the token that authenticates Posthorn to the receiver
  used_for text,
  created_at timestamptz not null default posthorn.now(),
  expires_at timestamptz
);
create index endpoint_secrets_of_endpoint on posthorn.endpoint_secrets (endpoint_id);

-- Failures, circuit and throttle of endpoints that have failed since their last success (or recently). A healthy endpoint has no row and
-- costs no write. The lane's owner writes it and the next owner reads it, so a takeover keeps an open circuit.
create table posthorn.endpoint_health (
  endpoint_id uuid primary key references posthorn.endpoints (id) on delete cascade,
  consecutive_failures integer not null,
  failing_since timestamptz,
  last_error text,
  -- how often the circuit has opened
  trips integer not null,
  -- null: the circuit is closed; in the future: open; in the past: half-open
  probe_at timestamptz,
  throttles integer not null,
  throttled_until timestamptz,
  -- pairs of a minute since 1970 and its failures, in the last hour, for circuits that count them; outlives a success
  recent_failures jsonb
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 70);

-- Whether an endpoint agreed to receive webhooks ("HTTP 1.1 Web Hooks for Event Delivery" §4). An endpoint without a row
-- needs no handshake; one whose row is not granted receives nothing.
create table posthorn.endpoint_handshakes (
  endpoint_id uuid primary key references posthorn.endpoints (id) on delete cascade,
  origin text not null,
  -- requests per minute; null: no rate was requested, or none was set
  requested_rate integer,
  allowed_rate integer,
  state text not null check (state in ('requesting', 'waiting', 'granted', 'denied')),
  detail text,
  -- part of the URL with which the endpoint can agree later; replaced with every request, so it also identifies the
  -- request that a response belongs to
  callback_token text not null unique,
  attempts integer not null default 0,
  next_at timestamptz,
  asked_at timestamptz,
  decided_at timestamptz
);
create index endpoint_handshakes_due on posthorn.endpoint_handshakes (next_at) where next_at is not null;

-- defaults of endpoints that statements read; of the process that started last
create table posthorn.endpoint_defaults (
  is_only boolean primary key default true check (is_only),
  ordering text not null default 'none',
  fifo_on_dead text not null default 'pass'
);
insert into posthorn.endpoint_defaults default values;
