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
  /** The end of the write-ahead log; null on a standby. */
  readonly end: string | null;
  readonly slot: Slot | null;
}

/** Without parameters: a replication connection has only the simple protocol. The name has no quotes. */
export async function readServer(
  connection: Pick<ForeignConnection, "query">,
  slot: string,
): Promise<Server> {
  const [row] = await connection.query<Record<string, string | null>>(`
select current_setting('max_slot_wal_keep_size') as keep,
  case when not pg_is_in_recovery() then pg_current_wal_lsn() end as "end",
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
  const {
    keep,
    end = null,
    plugin,
    wal_status: walStatus = null,
    confirmed,
    lag,
  } = row as Record<string, string | null>;
  return {
    walKeepSize: keep ?? "",
    end,
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

export interface Publication {
  /** As `schema.table`. */
  readonly tables: readonly string[];
  readonly hasInserts: boolean;
  /** Whether the rows of partitions are published as those of the partitioned table. */
  readonly isViaRoot: boolean;
}

/** Returns null if it does not exist. */
export async function readPublication(
  connection: Pick<ForeignConnection, "query">,
  publication: string,
): Promise<Publication | null> {
  const [row] = await connection.query<{ tables: string; flags: string }>(`
select array_to_json(array(
    select t.schemaname || '.' || t.tablename
    from pg_publication_tables t
    where t.pubname = p.pubname
  ))::text as tables,
  concat_ws(',', case when p.pubinsert then 'insert' end, case when p.pubviaroot then 'root' end) as flags
from pg_publication p
where p.pubname = ${escapeLiteral(publication)}
`);
  if (row === undefined) return null;
  return {
    tables: JSON.parse(row.tables),
    hasInserts: row.flags.includes("insert"),
    isViaRoot: row.flags.includes("root"),
  };
}

export async function isPartitioned(
  connection: Pick<ForeignConnection, "query">,
  schema: string,
  table: string,
): Promise<boolean> {
  const rows = await connection.query(`
select
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = ${escapeLiteral(schema)}
  and c.relname = ${escapeLiteral(table)}
  and c.relkind = 'p'
`);
  return rows.length > 0;
}
