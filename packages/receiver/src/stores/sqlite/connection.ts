// The part of a SQLite connection that the store uses: better-sqlite3, node:sqlite and compatible libraries.

export interface SqliteConnection {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

export interface SqliteStatement {
  // biome-ignore lint/suspicious/noExplicitAny: each library has a type of its own for what it binds
  run(...values: any[]): { readonly changes: number | bigint };
  // biome-ignore lint/suspicious/noExplicitAny: as above
  all(...values: any[]): unknown[];
}

export type SqliteValue = string | number | null | Uint8Array;

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
  run(sql: string, ...values: SqliteValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  all<Row>(sql: string, ...values: SqliteValue[]): Row[] {
    return this.#prepare(sql).all(...values) as Row[];
  }

  first<Row>(sql: string, ...values: SqliteValue[]): Row | null {
    return this.all<Row>(sql, ...values)[0] ?? null;
  }

  #prepare(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#prepareAnew(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  #prepareAnew(sql: string): SqliteStatement {
    try {
      return this.#db.prepare(sql);
    } catch (error) {
      if (!/no such table: posthorn_receiver_/.test(String(error))) throw error;
      throw new Error(
        "The receiver's tables are missing in this SQLite database: run store.migrate() first.",
        {
          cause: error,
        },
      );
    }
  }
}

/**
 * Returns whether another connection has the lock: `SQLITE_BUSY` and its extended codes. An unfinished statement of our own
 * connection has the same code, but waiting does not help then.
 */
export function isBusy(error: unknown): boolean {
  const { code, errcode, message } = (error ?? {}) as {
    code?: unknown;
    errcode?: unknown;
    message?: unknown;
  };
  if (String(message).includes("statements in progress")) return false;
  if (typeof errcode === "number") return (errcode & 0xff) === 5;
  return typeof code === "string" && code.startsWith("SQLITE_BUSY");
}
