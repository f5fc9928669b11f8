// The interface between the store and a database library. The other files adapt one library each.

/** Values that every library passes to PostgreSQL unchanged. */
export type Value = string | number | boolean | null | Uint8Array;

/** Column names are one lower-case word, so that no library renames them. */
export type Row = Readonly<Record<string, unknown>>;

/** One statement with `$1`, `$2`, …, each cast to its type, because not every library sends the types. */
export type Query = (text: string, values: readonly Value[]) => Promise<readonly Row[]>;

export interface PostgresDatabase<Tx> {
  /** On any connection, in its own transaction. */
  readonly query: Query;
  /**
   * Begins, works and commits. Rejects and rolls back if the work, the final statement or the commit fails; rejects also if the outcome
   * of the commit is unknown.
   */
  transaction<Result>(work: (tx: Tx, query: Query) => Promise<TransactionEnd<Result>>): Promise<Result>;
}

/** The end of a transaction. */
export interface TransactionEnd<Result> {
  readonly result: Result;
  /** Runs last before the commit, without values: if it fails, nothing is committed. */
  readonly finalStatement: string | null;
}

/** For libraries that send the commit themselves. */
export async function runFinalStatement<Result>(
  ending: TransactionEnd<Result>,
  query: Query,
): Promise<Result> {
  if (ending.finalStatement !== null) await query(ending.finalStatement, []);
  return ending.result;
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
