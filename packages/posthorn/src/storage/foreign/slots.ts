// Publications and replication slots of a source's database.
import { escapeLiteral, type ForeignConnection } from "./connection.ts";

export interface Slot {
  readonly plugin: string;
  /** `lost`: the server removed write-ahead log that it needs. */
  readonly walStatus: string | null;
  /** Everything before it was confirmed. */
  readonly confirmed: string;
  readonly lagBytes: number;
}

export interface Server {
  /** `max_slot_wal_keep_size`; -1 if a slot may fill the disk. */
  readonly walKeepSize: string;
  readonly slot: Slot | null;
}

/** Without parameters: a replication connection has only the simple protocol. The name has no quotes. */
export async function readServer(
  connection: Pick<ForeignConnection, "query">,
  slot: string,
): Promise<Server> {
  const [row] = await connection.query<Record<string, string | null>>(`
select current_setting('max_slot_wal_keep_size') as keep,
  s.plugin,
  s.wal_status,
  s.confirmed_flush_lsn as confirmed,
  greatest(
    case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - s.restart_lsn,
    0
  )::bigint as lag
from (select) one
left join pg_replication_slots s on s.slot_name = '${slot}'
`);
  const { keep, plugin, wal_status: walStatus = null, confirmed, lag } = row as Record<string, string | null>;
  return {
    walKeepSize: keep ?? "",
    slot: plugin ? { plugin, walStatus, confirmed: confirmed ?? "0/0", lagBytes: Number(lag ?? 0) } : null,
  };
}

/** Returns the position from which the slot can be read. */
export async function createSlot(
  connection: Pick<ForeignConnection, "query">,
  slot: string,
): Promise<string> {
  const [row] = await connection.query<{ lsn: string }>(
    `select lsn from pg_create_logical_replication_slot('${slot}', 'pgoutput')`,
  );
  return (row as { lsn: string }).lsn;
}

export async function dropSlot(connection: Pick<ForeignConnection, "query">, slot: string): Promise<void> {
  await connection.query(
    `select pg_drop_replication_slot(s.slot_name) from pg_replication_slots s where s.slot_name = '${slot}'`,
  );
}

/** Returns the tables of the publication as `schema.table`; null if it does not exist. */
export async function readPublication(
  connection: Pick<ForeignConnection, "query">,
  publication: string,
): Promise<readonly string[] | null> {
  const rows = await connection.query<{ tablename: string | null }>(`
select t.schemaname || '.' || t.tablename as tablename
from pg_publication p
left join pg_publication_tables t on t.pubname = p.pubname
where p.pubname = ${escapeLiteral(publication)}
`);
  if (rows.length === 0) return null;
  return rows.flatMap(({ tablename }) => tablename ?? []);
}
