-- What a subscriber wants to be told again when it is asked, as PubSubHubbub 0.3 had it; null: nothing.
alter table posthorn.websub_requests add column verify_token text;
