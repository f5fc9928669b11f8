-- Attempts over time, for charts: counted by workers in memory, added here every few seconds. A stretch is of a width (60,
-- 300 or 3600 seconds) and of an endpoint, or of the whole installation: the id of zeros. By time first, so that new rows
-- go to the end, old ones are deleted from the front, and those of an endpoint are found one by one: the times are known.
create table posthorn.activity (
  width integer not null,
  at timestamptz not null,
  endpoint_id uuid not null,
  success integer not null,
  failed integer not null,
  dead integer not null,
  -- how many attempts took how long, by the bounds in observe/latency-histogram.ts
  latency integer[] not null,
  primary key (width, at, endpoint_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, fillfactor = 70);
