-- The limit on attempts in flight grows while an endpoint responds fast.

-- the limit up to which it grows; null: max_in_flight if that is set, else the deployment default
alter table posthorn.endpoints add column max_in_flight_burst integer;

-- the current limit, for display; null: max_in_flight. Written by the owner, about every 5 seconds while it changes.
alter table posthorn.lanes add column in_flight_limit integer;
