-- How the processes of one machine pass deliveries to each other, and how many lanes each of them owns.
alter table posthorn.workers
  -- the Unix socket on which it receives deliveries; null if it has none. It means nothing on other machines.
  add column socket text,
  -- the number of lanes at its last heartbeat: a worker with more than its share yields some
  add column lanes integer not null default 0;
