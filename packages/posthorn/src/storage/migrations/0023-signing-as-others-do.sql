-- What a secret is for. Null: every signature scheme that has none of its own. The name of a scheme, such as `stripe`: that
-- one alone. `authorization`: it signs nothing and is the token that the receiver knows its sender by.
alter table posthorn.endpoint_secrets add column used_for text;

-- Where that token goes; null: there is none.
alter table posthorn.endpoints
  add column authorization_type text check (authorization_type in ('bearer', 'query'));
