// The state of sources, and their positions.
import { changes, firstRow, hasRow, rows, run } from "../../query.ts";

export type SourceKind = "polling" | "replication";
export type SourceState = "starting" | "running" | "failing" | "held" | "lost";

export interface SourceRow {
  readonly kind: SourceKind;
  readonly position: string | null;
  readonly cluster: string | null;
  readonly state: SourceState;
  readonly error: string | null;
  readonly heldRow: string | null;
  /** The rows that an operator decided to skip. */
  readonly skippedRows: readonly string[];
}

/** Also creates the row by which processes agree on who follows it. */
export const registerSource = run<[name: string, kind: SourceKind, role: string]>("register source")`
with role as (
  insert into posthorn.leadership (role, expires_at)
  values ($3::text, '-infinity')
  on conflict do nothing
)
insert into posthorn.sources as s (name, kind)
values ($1::text, $2::text)
on conflict (name) do update
set kind = excluded.kind, position = null, cluster = null, lag_bytes = null, state = 'starting', error = null
where s.kind <> excluded.kind
`;

export const readSource = firstRow<SourceRow, [name: string]>("read source")`
select s.kind, s.position, s.cluster, s.state, s.error, s.held_row as "heldRow",
  s.skipped_rows as "skippedRows"
from posthorn.sources s
where s.name = $1::text
`;

/** Stores where a source by replication begins. */
export const beginSource = run<[name: string, position: string, cluster: string]>("begin source")`
update posthorn.sources s
set position = $2::text, cluster = $3::text
where s.name = $1::text
  and s.position is null
`;

/** Makes a lost source begin again; returns 0 if it is not lost. */
export const resetSource = changes<[name: string]>("reset source")`
update posthorn.sources s
set position = null, cluster = null, state = 'starting', error = null, lag_bytes = null
where s.name = $1::text
  and s.state = 'lost'
`;

/**
 * Moves the position in the transaction that stores the events up to it. Returns false if another process has moved it:
 * two may follow a source for a moment.
 */
export const moveSource = hasRow<
  [name: string, kind: SourceKind, from: string | null, to: string | null, behindMs: number | null]
>("move source")`
update posthorn.sources s
set position = $4::text,
  state = 'running',
  error = null,
  held_row = null,
  caught_up_at = coalesce(
    posthorn.now() - $5::double precision * interval '1 millisecond',
    s.caught_up_at),
  seen_at = posthorn.now()
where s.name = $1::text
  and s.kind = $2::text
  and s.position is not distinct from $3::text
returning s.name
`;

/** Stores how much write-ahead log the slot of a source retains. */
export const noteSourceLag = run<[name: string, lagBytes: number]>("note source lag")`
update posthorn.sources s
set lag_bytes = $2::bigint
where s.name = $1::text
  and s.lag_bytes is distinct from $2::bigint
`;

/** Deletes a source that no process has followed for a minute; returns 0 otherwise. */
export const deleteSource = changes<[name: string]>("delete source")`
delete from posthorn.sources s
where s.name = $1::text
  and (s.seen_at is null or s.seen_at < posthorn.now() - interval '1 minute')
`;

/** Notes why a source does not go on. */
export const stopSource = run<
  [name: string, state: Exclude<SourceState, "running">, error: string, heldRow: string | null]
>("stop source", (name, state, error, heldRow) => [
  name,
  state,
  // an error that quotes the content of a message may contain U+0000, which PostgreSQL does not store
  error.replaceAll("\u0000", "\ufffd"),
  heldRow,
])`
update posthorn.sources s
set state = $2::text,
  error = $3::text,
  held_row = $4::text,
  lag_bytes = case when $2::text <> 'lost' then s.lag_bytes end,
  seen_at = posthorn.now()
where s.name = $1::text
  and s.state <> 'lost'
`;

export interface SourceStatusRow extends Omit<SourceRow, "skippedRows"> {
  readonly name: string;
  readonly events: number;
  readonly lagBytes: number | null;
  /** Null before everything was read once. */
  readonly lagMs: number | null;
  readonly seenMs: number | null;
}

export const listSources = rows<SourceStatusRow>("list sources")`
select s.name, s.kind, s.position, s.cluster, s.state, s.error,
  s.held_row as "heldRow",
  s.events,
  s.lag_bytes as "lagBytes",
  case when s.caught_up_at is not null then
    greatest(posthorn.epoch_ms(posthorn.now()) - posthorn.epoch_ms(s.caught_up_at), 0)
  end as "lagMs",
  posthorn.epoch_ms(s.seen_at) as "seenMs"
from posthorn.sources s
order by s.name
`;

/** Returns 0 if no row holds the source. */
export const skipHeldRow = changes<[name: string]>("skip held row")`
update posthorn.sources s
set skipped_rows = array_remove(s.skipped_rows, s.held_row) || s.held_row
where s.name = $1::text
  and s.state = 'held'
`;
