-- The one signature scheme that signs with a secret, such as `stripe`. Null: every scheme that has none of its own.
alter table posthorn.endpoint_secrets add column scheme text;
