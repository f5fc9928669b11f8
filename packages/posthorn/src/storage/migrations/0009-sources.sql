-- Sources: tables and messages of other databases whose rows are published as events.

create table posthorn.sources (
  name text primary key,
  kind text not null check (kind in ('polling', 'replication')),
  -- everything up to it is stored; written in the transaction that stores the events. Null: nothing was read yet
  position text,
  -- system identifier of the cluster that the position belongs to; null for polling
  cluster text,
  -- starting, running, failing (will be retried), held (by a row that cannot be published) or lost (rows may be missing)
  state text not null default 'starting' check (state in ('starting', 'running', 'failing', 'held', 'lost')),
  error text,
  -- the row that holds the source
  held_row text,
  -- the rows that an operator decided to skip; kept, because a row may be read again
  skipped_rows text[] not null default '{}',
  -- events stored from this source
  events bigint not null default 0,
  -- write-ahead log that the slot retains
  lag_bytes bigint,
  -- everything committed before this time is stored
  caught_up_at timestamptz,
  -- when a process last followed the source
  seen_at timestamptz,
  created_at timestamptz not null default posthorn.now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, fillfactor = 50);
