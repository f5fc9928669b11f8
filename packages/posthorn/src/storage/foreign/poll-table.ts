// Reads rows of a table in the order of (updated at, id), and only those that no later commit can precede.
import { escapeIdentifier, type ForeignConnection } from "./connection.ts";

export interface PolledTable {
  readonly schema: string;
  readonly name: string;
  /** By field of an event. */
  readonly columns: {
    readonly id: string;
    readonly updatedAt: string;
    readonly data: string;
    readonly tenant?: string | undefined;
    readonly type?: string | undefined;
    readonly subject?: string | undefined;
    readonly apiVersion?: string | undefined;
  };
  /** Allowed texts by column. */
  readonly filter: ReadonlyMap<string, readonly string[]>;
}

/** Texts of more than `maxTextLength` characters are cut after one more. */
export interface PolledRow {
  readonly id: string | null;
  readonly updatedAt: string;
  /** Whether the filter includes it; the data of other rows is not read. */
  readonly isIncluded: boolean;
  readonly tenant?: string | null;
  readonly type?: string | null;
  readonly subject?: string | null;
  readonly apiVersion?: string | null;
  /** Null if it is larger than `maxDataBytes`. */
  readonly data: string | null;
  readonly dataBytes: number;
}

export interface PollRange {
  readonly after: Cursor | null;
  readonly before: string;
  readonly delayMs: number;
  /** A poll ends after this many rows, and at the latest one fetch after this many characters. */
  readonly limit: { readonly rows: number; readonly characters: number };
  readonly maxDataBytes: number;
  readonly maxTextLength: number;
}

/** Bounds how far a poll may exceed its limit of characters: 25 rows of 256 KB are 6.4 MB. */
const ROWS_PER_FETCH = 25;

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

/** Returns rows after the cursor that are older than `before` by at least `delayMs`, and whether there are more. */
export async function readRows(
  connection: ForeignConnection,
  table: PolledTable,
  range: PollRange,
): Promise<{ readonly rows: readonly PolledRow[]; readonly hasMore: boolean }> {
  const { limit } = range;
  await openCursor(connection, table, range);
  const rows: PolledRow[] = [];
  let characters = 0;
  while (rows.length < limit.rows && characters < limit.characters) {
    const fetched = await connection.query<Record<string, string | null>>(
      `fetch ${ROWS_PER_FETCH} from posthorn_poll`,
    );
    for (const row of fetched) {
      if ((row.id?.length ?? 0) > range.maxTextLength) {
        // the rows before it are published first
        if (rows.length > 0) return { rows, hasMore: true };
        throw longId(table, row.id as string, range.maxTextLength);
      }
      rows.push(toRow(row));
      for (const text of Object.values(row)) characters += text?.length ?? 0;
    }
    if (fetched.length < ROWS_PER_FETCH) return { rows, hasMore: rows.length === limit.rows };
  }
  return { rows, hasMore: true };
}

/**
 * The size of jsonb is known only after its conversion to text. A cursor converts the rows that are fetched and no others:
 * therefore the subquery, which selects the columns as they are stored, and `offset 0`, which converts once.
 */
async function openCursor(
  connection: ForeignConnection,
  table: PolledTable,
  range: PollRange,
): Promise<void> {
  const { columns, filter } = table;
  const { after, before, delayMs, limit, maxDataBytes, maxTextLength } = range;
  const values: unknown[] = [];
  const value = (given: unknown) => `$${values.push(given)}`;
  const [id, updatedAt] = [escapeIdentifier(columns.id), escapeIdentifier(columns.updatedAt)];
  const fields = Object.entries(columns).filter(([, name]) => name !== undefined);
  const stored = [
    ...fields.map(([field, name]) => `${escapeIdentifier(name as string)} as "${field}"`),
    ...[...filter.keys()].map((name, index) => `${escapeIdentifier(name)} as "filter${index}"`),
  ];
  // format converts to the text that replication sends, which a cast does not: "f" for false
  const conditions = [...filter.values()].map(
    (allowed, index) =>
      `(page."filter${index}" is not null and format('%s', page."filter${index}") = any (${value(allowed)}::text[]))`,
  );
  const texts = fields
    .map(([field]) => field)
    .filter((field) => field !== "data" && field !== "updatedAt")
    .map(
      (field) =>
        `case when page."${field}" is not null then left(format('%s', page."${field}"), ${value(maxTextLength)}::integer + 1) end as "${field}"`,
    );
  const declared = connection.query(
    `
declare posthorn_poll no scroll cursor for
select page."updatedAt",
  ${texts.join(",\n  ")},
  filtered."isIncluded",
  octet_length(data.text) as "dataBytes",
  case when octet_length(data.text) <= ${value(maxDataBytes)}::integer then data.text end as "data"
from (
  select ${stored.join(", ")}
  from ${escapeIdentifier(table.schema)}.${escapeIdentifier(table.name)} t
  where ${updatedAt} < ${value(before)}::timestamptz - ${value(delayMs)}::double precision * interval '1 millisecond'
    ${after === null ? "" : `and ${isAfter(after)}`}
  order by t.${updatedAt}, t.${id}
  limit ${value(limit.rows)}::integer
) page
cross join lateral (select ${conditions.join(" and ") || "true"} as "isIncluded" offset 0) filtered
cross join lateral (select case when filtered."isIncluded" then page."data"::text end as text offset 0) data
order by page."updatedAt", page."id"
`,
    values,
  );
  await declared.catch((error: Error) => {
    throw after !== null && isOtherType(error) ? otherType(table, error) : error;
  });

  function isAfter(cursor: Cursor): string {
    return cursor.id === null
      ? `${updatedAt} > ${value(cursor.updatedAt)}`
      : `(${updatedAt}, ${id}) > (${value(cursor.updatedAt)}, ${value(cursor.id)})`;
  }
}

/** Whether a value is not one of the column's type: the codes of PostgreSQL for its texts, its ranges and its dates. */
function isOtherType({ code = "" }: Error & { code?: string }): boolean {
  return ["22P02", "22003", "22007", "22008"].includes(code);
}

function otherType({ schema, name, columns }: PolledTable, { message }: Error): Error {
  return new Error(
    `the stored position does not fit ${columns.updatedAt} and ${columns.id} of ${schema}.${name} (${message}): if their types were changed, remove the source from the configuration, delete it, and add it again. It begins at the first row; rows whose id is unchanged are not published again`,
  );
}

/** The position after a row contains its whole id. */
function longId({ schema, name, columns }: PolledTable, id: string, limit: number): Error {
  return new Error(
    `a row of ${schema}.${name} cannot be read, because ${columns.id} has more than ${limit} characters: shorten it, or delete the row. It begins with ${id.slice(0, 60)}`,
  );
}

function toRow(row: Record<string, string | null>): PolledRow {
  return {
    ...(row as unknown as PolledRow),
    isIncluded: row.isIncluded === "t",
    dataBytes: Number(row.dataBytes ?? 0),
  };
}

/** Throws if there are rows that `readRows` never returns, because they have no place in the order. */
export async function refuseUnordered(
  connection: ForeignConnection,
  table: PolledTable,
  after: Cursor | null,
): Promise<void> {
  const { columns } = table;
  const [id, updatedAt] = [escapeIdentifier(columns.id), escapeIdentifier(columns.updatedAt)];
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
      `rows of ${name} cannot be ordered, because ${columns.updatedAt} is null or infinite: set it, or delete them`,
    );
  if (found?.hasId === "f")
    throw new Error(
      `rows of ${name} cannot be ordered, because ${columns.id} is null: set it, or delete them`,
    );
}

/**
 * Runs the statements of a poll at `read committed`; a column without time zone is read as UTC. The server ends a statement
 * before the client stops waiting for it, and a transaction whose client is gone: one that goes on would delay the next poll,
 * which waits for open transactions. A limit that the role has already applies instead.
 */
export async function inPoll<Result>(
  connection: ForeignConnection,
  work: () => Promise<Result>,
): Promise<Result> {
  await connection.query(
    `begin isolation level read committed, read only; set local time zone 'UTC'; set local datestyle = 'ISO'; ${LIMITS}`,
  );
  try {
    const result = await work();
    await connection.query("commit");
    return result;
  } catch (error) {
    throw isTimeout(error as Error) ? tooSlow() : error;
  }
}

const LIMITS = [
  ["statement_timeout", "50s"],
  ["idle_in_transaction_session_timeout", "60s"],
]
  .map(
    ([name, limit]) =>
      `select set_config('${name}', '${limit}', true) where current_setting('${name}') = '0'`,
  )
  .join("; ");

function isTimeout({ message }: Error): boolean {
  return /canceling statement due to statement timeout|Query read timeout/.test(message);
}

function tooSlow(): Error {
  return new Error(
    "a poll took too long and was cancelled: create an index on the columns updated_at and id of the table, or poll a table in place of a slow view",
  );
}
