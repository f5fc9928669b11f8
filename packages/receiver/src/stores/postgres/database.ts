// What the store asks of a database, whichever library talks to it. The files beside this one adapt one library each.

/** What every library hands to PostgreSQL unchanged. */
export type Value = string | number | boolean | null | Uint8Array;

/** Columns have names of one lower-case word, which no library's renaming touches. */
export type Row = Readonly<Record<string, unknown>>;

/** One statement with `$1`, `$2`, …, each cast to its type, because not every library tells PostgreSQL the types. */
export type Query = (text: string, values: readonly Value[]) => Promise<readonly Row[]>;

export interface PostgresDatabase<Tx> {
  /** On any connection, in a transaction of its own. */
  readonly query: Query;
  /**
   * Begins, works, and commits. Rejects, and leaves nothing, when the work, the last statement or the commit fails; when
   * the outcome of the commit is not known it rejects too.
   */
  transaction<Result>(work: (tx: Tx, query: Query) => Promise<TransactionEnd<Result>>): Promise<Result>;
}

/** How a transaction ends. */
export interface TransactionEnd<Result> {
  readonly result: Result;
  /** Without values, to run last before the commit: nothing is committed when it fails. */
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

/** Under the name that the function `finish` gives it. */
export class TransactionEnded extends Error {
  readonly code = "PH001";
}

/** The five characters by which PostgreSQL names an error, wherever the library put them. */
export function sqlState(error: unknown): string | null {
  for (const candidate of causes(error)) {
    const { code, originalCode, meta } = candidate;
    for (const state of [originalCode, code, (meta as Row | undefined)?.code]) {
      if (typeof state === "string" && /^[0-9A-Z]{5}$/.test(state) && !/^P2\d/.test(state)) return state;
    }
    // Prisma says no more of a conflict than this
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
