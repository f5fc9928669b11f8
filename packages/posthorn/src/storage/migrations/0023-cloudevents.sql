-- What an event brought along from where it was made, such as a CloudEvent's source, and how its data is to be read. Null for
-- those published our way, which are longer by nothing.
alter table posthorn.events add column attributes jsonb;

-- Null: as it is unless told.
alter table posthorn.endpoints add column batch jsonb;
