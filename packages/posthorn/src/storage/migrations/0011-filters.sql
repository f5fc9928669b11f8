-- What an endpoint wants of an event besides its type; null: nothing. Kept as it was written, and checked before.
alter table posthorn.endpoints add column filter jsonb;
