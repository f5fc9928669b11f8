// The part of a SQLite connection that the store uses: better-sqlite3, node:sqlite and compatible libraries.

export interface SqliteConnection {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

export interface SqliteStatement {
  // biome-ignore lint/suspicious/noExplicitAny: each library has its own type for bound values
  run(...values: any[]): { readonly changes: number | bigint };
  // biome-ignore lint/suspicious/noExplicitAny: as above
  all(...values: any[]): unknown[];
}

export type SqliteValue = string | number | null | Uint8Array;

export interface Sql {
  readonly text: string;
  readonly values: readonly SqliteValue[];
}

/** Values become parameters; other pieces of SQL are inserted. */
export function sql(strings: TemplateStringsArray, ...parts: (SqliteValue | Sql)[]): Sql {
  const pieces = parts.map((part) =>
    typeof part === "object" && part !== null && "text" in part ? part : { text: "?", values: [part] },
  );
  const text = strings.reduce((before, after, at) => before + pieces[at - 1]?.text + after);
  return { text, values: pieces.flatMap(({ values }) => values) };
}

/** Prepares each statement once, and hides the differences between the libraries. */
export class Connection {
  readonly #db: SqliteConnection;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(db: SqliteConnection) {
    if (typeof db?.exec !== "function" || typeof db?.prepare !== "function") {
      throw new TypeError(
        "sqliteStore needs a connection with exec and prepare: new Database(file) from better-sqlite3, or new DatabaseSync(file) from node:sqlite.",
      );
    }
    this.#db = db;
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** Returns the number of changed rows. */
  run({ text, values }: Sql): number {
    return Number(this.#prepare(text).run(...values).changes);
  }

  all<Row>({ text, values }: Sql): Row[] {
    return this.#prepare(text).all(...values) as Row[];
  }

  first<Row>(statement: Sql): Row | null {
    return this.all<Row>(statement)[0] ?? null;
  }

  #prepare(text: string): SqliteStatement {
    const known = this.#prepared.get(text);
    if (known) return known;
    try {
      const statement = this.#db.prepare(text);
      this.#prepared.set(text, statement);
      return statement;
    } catch (error) {
      if (!/no such table: posthorn_receiver_/.test(String(error))) throw error;
      throw new Error(
        "The receiver's tables are missing in this SQLite database: run store.migrate() first.",
        { cause: error },
      );
    }
  }
}

/**
 * Returns whether another connection has the lock: `SQLITE_BUSY` and its extended codes. An unfinished statement of this
 * connection has the same code, but waiting does not help then.
 */
export function isBusy(error: unknown): boolean {
  const { code, errcode, message } = (error ?? {}) as Record<string, unknown>;
  if (String(message).includes("statements in progress")) return false;
  if (typeof errcode === "number") return (errcode & 0xff) === 5;
  return typeof code === "string" && code.startsWith("SQLITE_BUSY");
}
