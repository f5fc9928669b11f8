-- The number of an event in its subject, for whoever has just published it: select posthorn.sequence_of(id), also around
-- posthorn.publish itself. Volatile, because only then it sees what the same statement has written.
create function posthorn.sequence_of(id text) returns bigint
language sql volatile strict
as $$
  select e.sequence
  from posthorn.events e
  where e.id = substring(sequence_of.id from '^evt_(.*)$')::uuid
$$;
