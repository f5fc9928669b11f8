// Reads rows of a table in the order of (updated at, id), and only those that no later commit can precede.
import { escapeIdentifier, type ForeignConnection } from "./connection.ts";

export interface PolledTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly id: string;
  readonly updatedAt: string;
}

export interface Cursor {
  readonly updatedAt: string;
  /** Null sorts last within one `updatedAt`. */
  readonly id: string | null;
}

export interface OpenTransactions {
  /** The database's time before the list was read. */
  readonly at: string;
  /** Transactions in this database that may still write. */
  readonly open: readonly string[];
}

/**
 * Every transaction holds a lock on its virtual id from its start to its end. Reads at `read committed`: what a
 * transaction wrote that is no longer listed is visible to the next statement. Processes without a user, such as
 * autovacuum, write no rows.
 */
const openTransactions = `
select now()::text as at,
  pg_is_in_recovery()::text as "isStandby",
  (
    select json_agg(listed.id)
    from (
      select l.virtualxid as id
      from pg_locks l
      left join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'virtualxid'
        and l.mode = 'ExclusiveLock'
        and l.pid <> pg_backend_pid()
        and (a.pid is null or (a.datname = current_database() and a.usesysid is not null))
      union all
      select p.gid
      from pg_prepared_xacts p
      where p.database = current_database()
    ) listed
  ) as open
`;

export async function readOpenTransactions(connection: ForeignConnection): Promise<OpenTransactions> {
  const [row] = await connection.query<{ at: string; isStandby: string; open: string | null }>(
    openTransactions,
  );
  const { at, isStandby, open } = row as NonNullable<typeof row>;
  if (isStandby === "true") {
    throw new Error(
      "the database is a standby, which does not list the open transactions of the primary: poll the primary",
    );
  }
  return { at, open: JSON.parse(open ?? "[]") };
}

/** Returns rows after the cursor that are older than `before` by at least `delayMs`. Columns are text. */
export function readRows(
  connection: ForeignConnection,
  table: PolledTable,
  { after, before, delayMs, limit }: { after: Cursor | null; before: string; delayMs: number; limit: number },
): Promise<Readonly<Record<string, string | null>>[]> {
  const [id, updatedAt] = [escapeIdentifier(table.id), escapeIdentifier(table.updatedAt)];
  const text = `
select ${table.columns.map(escapeIdentifier).join(", ")}
from ${escapeIdentifier(table.schema)}.${escapeIdentifier(table.name)}
where ${updatedAt} < $1::timestamptz - $2::double precision * interval '1 millisecond'
  ${after === null ? "" : `and ${after.id === null ? `${updatedAt} > $4` : `(${updatedAt}, ${id}) > ($4, $5)`}`}
order by ${updatedAt}, ${id}
limit $3::integer
`;
  return connection.query(text, [
    before,
    delayMs,
    limit,
    ...(after === null ? [] : [after.updatedAt, after.id].filter((value) => value !== null)),
  ]);
}

/** Throws if there are rows that `readRows` never returns, because they have no place in the order. */
export async function refuseUnordered(
  connection: ForeignConnection,
  table: PolledTable,
  after: Cursor | null,
): Promise<void> {
  const [id, updatedAt] = [escapeIdentifier(table.id), escapeIdentifier(table.updatedAt)];
  const rows = `select from ${escapeIdentifier(table.schema)}.${escapeIdentifier(table.name)} where`;
  const passed = after?.id ? after.updatedAt : null;
  const [found] = await connection.query<{ hasTime: string; hasId: string }>(
    `
select not exists (${rows} ${updatedAt} is null)
    and not exists (${rows} ${updatedAt} >= 'infinity')
    and not exists (${rows} ${updatedAt} <= '-infinity') as "hasTime",
  ${passed === null ? "true" : `not exists (${rows} ${updatedAt} = $1 and ${id} is null)`} as "hasId"
`,
    passed === null ? [] : [passed],
  );
  const name = `${table.schema}.${table.name}`;
  if (found?.hasTime === "f")
    throw new Error(
      `rows of ${name} cannot be ordered, because ${table.updatedAt} is null or infinite: set it, or delete them`,
    );
  if (found?.hasId === "f")
    throw new Error(`rows of ${name} cannot be ordered, because ${table.id} is null: set it, or delete them`);
}

/** Runs the statements of a poll at `read committed`; a column without time zone is read as UTC. */
export async function inPoll<Result>(
  connection: ForeignConnection,
  work: () => Promise<Result>,
): Promise<Result> {
  await connection.query(
    "begin isolation level read committed, read only; set local time zone 'UTC'; set local datestyle = 'ISO'",
  );
  const result = await work();
  await connection.query("commit");
  return result;
}
