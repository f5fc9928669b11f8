-- What a secret is for. Null: every signature scheme that has none of its own. The name of a scheme, such as `stripe`: that
-- one alone. `authorization`: it signs nothing and is the token that the receiver knows its sender by.
alter table posthorn.endpoint_secrets add column used_for text;

-- Where that token goes; null: there is none.
alter table posthorn.endpoints
  add column authorization_type text check (authorization_type in ('bearer', 'query'));

-- Whether an endpoint agreed to get webhooks ("HTTP 1.1 Web Hooks for Event Delivery" §4). Without a row nobody asks; with
-- one that is not granted nothing is sent.
create table posthorn.endpoint_handshakes (
  endpoint_id uuid primary key references posthorn.endpoints (id) on delete cascade,
  origin text not null,
  -- per minute; null: none is asked for, and none was set
  requested_rate integer,
  allowed_rate integer,
  state text not null check (state in ('asking', 'waiting', 'granted', 'denied')),
  detail text,
  -- of the URL by which the endpoint can agree later; a new one whenever it is asked anew, so that it also says what an
  -- answer is an answer to
  callback_token text not null unique,
  attempts integer not null default 0,
  next_at timestamptz,
  asked_at timestamptz,
  decided_at timestamptz
);
create index endpoint_handshakes_due on posthorn.endpoint_handshakes (next_at) where next_at is not null;
