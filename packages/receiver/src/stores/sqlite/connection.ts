// What the store uses of a SQLite connection: better-sqlite3, node:sqlite and what has the same methods.

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

/** Statements prepared once, and answers without what differs between the libraries. */
export class Connection {
  readonly #db: SqliteConnection;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(db: SqliteConnection) {
    if (typeof db?.exec !== "function" || typeof db?.prepare !== "function") {
      throw new TypeError(
        "sqliteStore needs a connection with exec and prepare: new Database(file) of better-sqlite3, or new DatabaseSync(file) of node:sqlite.",
      );
    }
    this.#db = db;
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** How many rows it changed. */
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
      throw new Error("This SQLite database has no tables of the receiver yet: run store.migrate() first.", {
        cause: error,
      });
    }
  }
}

/**
 * Another connection has the lock: `SQLITE_BUSY` and its extended codes, as each library tells it. A statement of our own
 * that was not run to its end has the same code, and no wait helps.
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
