-- A test event may have any type; it is for one endpoint alone, and no replay brings it to another. Null: it was published.
alter table posthorn.events add column is_test boolean;
