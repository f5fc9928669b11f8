// The interface between the store and a database library. The other files adapt one library each.

/** Values that every library passes to PostgreSQL unchanged. */
export type Value = string | number | boolean | null | Uint8Array;

/** Column names are one lower-case word, so that no library renames them. */
export type Row = Readonly<Record<string, unknown>>;

/** One statement with `$1`, `$2`, …, each cast to its type, because not every library sends the types. */
export type Query = (text: string, values: readonly Value[]) => Promise<readonly Row[]>;

/** A statement that can be sent together with `begin` or `commit`. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Exclude<Value, Uint8Array>[];
}

export interface PostgresDatabase<Tx> {
  /** On any connection, in its own transaction. */
  readonly query: Query;
  /**
   * Begins, runs the first statement, works and commits. Rejects and rolls back if a statement, the work or the commit fails; rejects
   * also if the outcome of the commit is unknown.
   */
  transaction<Result>(first: Statement, work: TransactionWork<Tx, Result>): Promise<Result>;
}

/** `rows` are those of the first statement. */
export type TransactionWork<Tx, Result> = (
  tx: Tx,
  rows: readonly Row[],
  query: Query,
) => Promise<TransactionEnd<Result>>;

/** The end of a transaction. */
export interface TransactionEnd<Result> {
  readonly result: Result;
  /** Runs last before the commit: if it fails, nothing is committed. */
  readonly last: Statement | null;
}

/** Adapts a library that sends the commit itself when `work` resolves. */
export function databaseOf<Executor, Tx extends Executor>(
  db: Executor,
  queryOn: (executor: Executor) => Query,
  begin: (work: (tx: Tx) => Promise<unknown>) => Promise<unknown>,
): PostgresDatabase<Tx> {
  return {
    query: queryOn(db),
    async transaction<Result>(first: Statement, work: TransactionWork<Tx, Result>) {
      return (await begin(async (tx) => {
        const query = queryOn(tx);
        return runLast(await work(tx, await query(first.text, first.values), query), query);
      })) as Result;
    },
  };
}

export async function runLast<Result>(
  { last, result }: TransactionEnd<Result>,
  query: Query,
): Promise<Result> {
  if (last !== null) await query(last.text, last.values);
  return result;
}

/** Has the error code that the function `finish` raises. */
export class TransactionEnded extends Error {
  readonly code = "PH001";
}

/** PostgreSQL's five-character error code, wherever the library puts it. */
export function sqlState(error: unknown): string | null {
  for (const candidate of causes(error)) {
    const { code, originalCode, meta } = candidate;
    for (const state of [originalCode, code, (meta as Row | undefined)?.code]) {
      if (typeof state === "string" && /^[0-9A-Z]{5}$/.test(state) && !/^P2\d/.test(state)) return state;
    }
    // Prisma reports a conflict only by this code.
    if (code === "P2034") return "40001";
  }
  return null;
}

function* causes(error: unknown): Generator<Row> {
  let current = error;
  for (let depth = 0; depth < 5 && typeof current === "object" && current !== null; depth++) {
    const found = current as Row;
    yield found;
    current = found.cause ?? (found.meta as Row | undefined)?.driverAdapterError;
  }
}

const MAX_ATTEMPTS = 10;

/** A serialization failure (if the default is REPEATABLE READ or SERIALIZABLE), or a deadlock. */
const conflicts = new Set(["40001", "40P01"]);

/** Repeats a statement or a transaction that failed because of a conflict with another transaction. */
export async function retryConflicts<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !conflicts.has(sqlState(error) ?? "")) throw error;
    }
  }
}
