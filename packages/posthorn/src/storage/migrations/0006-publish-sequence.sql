-- The number of an event in its subject, for whoever has just published it: select posthorn.sequence_of(id), also around
-- posthorn.publish itself. Volatile, because only then it sees what the same statement has written. First in the
-- outbox, where a new event is found without a look at every partition; a duplicate may have left it long ago.
create function posthorn.sequence_of(id text) returns bigint
language plpgsql volatile strict
as $$
declare
  asked uuid := substring(sequence_of.id from '^evt_(.*)$')::uuid;
  found_sequence bigint;
begin
  select o.sequence into found_sequence
  from posthorn.outbox o
  where o.event_id = asked;
  if not found then
    select e.sequence into found_sequence
    from posthorn.events e
    where e.id = asked;
  end if;
  return found_sequence;
end
$$;
