// The subscriptions of `@posthorn/receiver/websub`.
export const subscriptions = `
create table posthorn_receiver.subscriptions (
  id text primary key,
  -- at most 2,048 bytes: index entries are limited to 2,700
  url text not null unique,
  secret text not null,
  mode text not null default 'subscribe' check (mode in ('subscribe', 'unsubscribe')),
  requested_topic text,
  requested_hub text,
  -- when the latest request was confirmed
  confirmed_at timestamptz,
  topic text,
  hub text,
  lease_ends_at timestamptz,
  denied text,
  -- when the next request is due; null if the hub denied it
  due_at timestamptz default now(),
  attempts integer not null default 0,
  error text
);

create index subscriptions_due on posthorn_receiver.subscriptions (due_at);
`;
