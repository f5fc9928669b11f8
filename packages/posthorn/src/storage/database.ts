// Sends statements to PostgreSQL in the configured schema and classifies failures. Keeps no session state on pooled
// connections, so that it works behind pgbouncer in transaction mode.
import pg from "pg";
import { PosthornError } from "../errors.ts";
import { rowTypes } from "./row-types.ts";
import { inSchema, isSchemaName, type Statement } from "./sql.ts";

/** Runs statements: the pool, or a transaction on one of its connections. */
export interface Queryable {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

export interface DatabaseOptions {
  /** A `pg` pool, or a connection string for a pool that Posthorn creates. */
  readonly database: pg.Pool | string;
  readonly schema: string;
  /** Size of a pool created from a connection string. */
  readonly maxConnections?: number;
  /** Called for every failed statement. */
  readonly onError?: (kind: "unavailable" | "conflict" | "refused") => void;
}

export class Database implements Queryable {
  readonly schema: string;
  readonly #pool: pg.Pool;
  readonly #ownsPool: boolean;
  readonly #onError: DatabaseOptions["onError"];
  readonly #texts = new Map<string, string>();
  /** Named prepared statements fail behind a transaction pooler; known after the first direct connection. */
  #preparesStatements = false;
  #statementsSent = 0;
  readonly #swallowPoolError = (): void => {};
  readonly #listenToErrors = (client: pg.PoolClient): void => {
    client.on("error", this.#swallowPoolError);
  };

  constructor(options: DatabaseOptions) {
    if (!isSchemaName(options.schema)) {
      throw new PosthornError(
        "invalid_config",
        `Schema "${options.schema}" is not valid. Use letters, digits, _ and -, do not start with a digit, at most 63 characters.`,
      );
    }
    this.schema = options.schema;
    this.#onError = options.onError;
    this.#ownsPool = typeof options.database === "string";
    this.#pool =
      typeof options.database === "string"
        ? new pg.Pool({
            connectionString: options.database,
            max: options.maxConnections ?? 10,
            connectionTimeoutMillis: 5_000,
            keepAlive: true,
            application_name: "posthorn",
          })
        : options.database;
    // Without a listener, the loss of a connection would crash the process: while it is idle, and also when the pool
    // hands it out, before the caller can add a listener.
    this.#pool.on("error", this.#swallowPoolError);
    this.#pool.on("connect", this.#listenToErrors);
  }

  /** Number of statements sent, for benchmarks. */
  get statementsSent(): number {
    return this.#statementsSent;
  }

  async query<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      const result = await this.#pool.query<Row & pg.QueryResultRow>(this.#queryConfig(statement, values));
      return result.rows;
    } catch (error) {
      this.#noteError(error);
      throw error;
    }
  }

  async transaction<Result>(work: (tx: Queryable) => Promise<Result>): Promise<Result> {
    return await this.inOwnTransaction((client) =>
      work({
        query: async <Row>(statement: Statement, values: readonly unknown[] = []) =>
          (await client.query<Row & pg.QueryResultRow>(this.#queryConfig(statement, values))).rows,
      }),
    );
  }

  /** Runs code that expects a caller's open transaction. */
  async inOwnTransaction<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    // a connection taken from the pool has no listener of the pool
    client.on("error", this.#swallowPoolError);
    try {
      await client.query(withTimeout(beginWithIdleTimeout));
      const result = await work(client);
      await client.query(withTimeout("commit"));
      return result;
    } catch (error) {
      failure = error as Error;
      this.#noteError(error);
      // an unresponsive connection is closed below, which rolls back as well
      if (!isUnavailable(error)) await client.query(withTimeout("rollback")).catch(() => {});
      throw error;
    } finally {
      client.off("error", this.#swallowPoolError);
      // a failed connection is not returned to the pool
      client.release(failure !== undefined && isUnavailable(failure) ? failure : undefined);
    }
  }

  /**
   * Opens a connection outside the pool for what must not queue behind other statements: the lease, the liveness lock,
   * LISTEN. `isDirect` is false behind a pooler, where there is no session that could hold a lock or listen.
   */
  async connect(): Promise<DirectConnection> {
    const options = (this.#pool as unknown as { options: pg.ClientConfig }).options;
    const client = new pg.Client({
      ...options,
      connectionTimeoutMillis: 5_000,
      query_timeout: statementTimeoutMs,
      keepAlive: true,
    });
    const close = () => endWithoutWaiting(client);
    const lost = new Promise<Error>((resolve) => {
      client.on("error", resolve);
      client.on("end", () => resolve(new Error("the connection ended")));
    });
    const isDirect = await connectAndIdentify(client).catch((error) => {
      void close();
      throw error;
    });
    this.#preparesStatements = isDirect;
    return {
      isDirect,
      lost,
      query: async <Row>(statement: Statement, values: readonly unknown[] = []) => {
        this.#statementsSent += 1;
        const text = this.text(statement);
        return (
          await client.query<Row & pg.QueryResultRow>({
            text,
            values: [...values],
            types: rowTypes,
          } as pg.QueryConfig)
        ).rows;
      },
      onNotification: (listener) =>
        client.on("notification", ({ channel, payload }) => listener(channel, payload ?? "")),
      close,
    };
  }

  text(statement: Statement): string {
    let text = this.#texts.get(statement.text);
    if (text === undefined) {
      text = inSchema(statement.text, this.schema);
      this.#texts.set(statement.text, text);
    }
    return text;
  }

  /** Number of statements that wait for a connection. */
  get waitingForConnection(): number {
    return this.#pool.waitingCount;
  }

  #noteError(error: unknown): void {
    // a PosthornError thrown in a transaction is not a database error
    if (error instanceof PosthornError) return;
    this.#onError?.(isUnavailable(error) ? "unavailable" : isConflict(error) ? "conflict" : "refused");
  }

  /** Whether the application has ended its pool. */
  get isEnded(): boolean {
    return this.#pool.ended;
  }

  async close(): Promise<void> {
    this.#pool.off("error", this.#swallowPoolError);
    this.#pool.off("connect", this.#listenToErrors);
    if (this.#ownsPool) {
      this.#pool.on("error", this.#swallowPoolError);
      await this.#pool.end();
    }
  }

  #queryConfig(statement: Statement, values: readonly unknown[]): pg.QueryConfig {
    this.#statementsSent += 1;
    const config = {
      text: this.text(statement),
      values: values as unknown[],
      types: rowTypes,
      query_timeout: statement.hasNoTimeout ? undefined : statementTimeoutMs,
    };
    return (this.#preparesStatements && !statement.replansEachTime
      ? { ...config, name: `posthorn ${this.schema} ${statement.name}` }
      : config) as unknown as pg.QueryConfig;
  }
}

/**
 * A network that drops packets never reports a lost connection, so a timeout counts as one. The server may still execute
 * the statement; the caller must handle that like any lost reply.
 */
const statementTimeoutMs = 5_000;

/**
 * A frozen or disconnected process would keep its locks until TCP gives up, after hours. Sent with `begin` in one round
 * trip, for this transaction only.
 */
const beginWithIdleTimeout = "begin; set local idle_in_transaction_session_timeout = '10s'";

const withTimeout = (text: string): pg.QueryConfig =>
  ({ text, query_timeout: statementTimeoutMs }) as pg.QueryConfig;

/** Returns whether the session is direct: a pooler reports a made-up backend process id. */
async function connectAndIdentify(client: pg.Client): Promise<boolean> {
  await client.connect();
  const reported = (client as unknown as { processID: number | null }).processID;
  const [row] = (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows;
  return reported === row?.pid;
}

/** Closes the connection, but waits only briefly for an unresponsive server. */
async function endWithoutWaiting(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  const timer = setTimeout(() => stream.destroy(), 1_000);
  await client.end().catch(() => {});
  clearTimeout(timer);
}

export interface DirectConnection extends Queryable {
  readonly isDirect: boolean;
  /** Resolves when the connection is lost. */
  readonly lost: Promise<Error>;
  onNotification(listener: (channel: string, payload: string) => void): void;
  close(): Promise<void>;
}

/** Whether the database was unreachable, read-only, full or overloaded. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  if (code !== undefined && unavailableCodes.test(code)) return true;
  return message !== undefined && unavailableMessages.test(message);
}

/** Whether two transactions conflicted; the statement may be retried. */
export function isConflict(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "40001" || code === "40P01" || isLockTimeout(error);
}

/** Whether waiting for a lock timed out. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === "55P03";
}

/** Whether the schema, or a table or function in it, does not exist. */
export function isSchemaMissing(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: string };
  return code === "3F000" || code === "42P01" || code === "42883";
}

/** Whether a unique constraint was violated. */
export function isDuplicate(error: unknown): boolean {
  return (error as { code?: string }).code === "23505";
}

// 08 connection, 25006 read-only, 25P03 idle in transaction, 53 resources (disk full, too many connections), 57P0x
// shutdown and restart, 58 system, XX000 "cannot … during recovery"; then codes of the operating system, the driver and
// this file.
const unavailableCodes =
  /^(08...|25006|25P03|53...|57014|57P0[1-5]|58...|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|database_unavailable)$/;
const unavailableMessages =
  /Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|not queryable|after calling end on the pool|connection is closed|server closed the connection|the database system is (starting up|shutting down|in recovery)/i;
