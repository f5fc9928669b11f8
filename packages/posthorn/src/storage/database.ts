// Sends statements to PostgreSQL in the configured schema. Keeps no session state on pooled
// connections, so that it works behind pgbouncer in transaction mode.
import pg from "pg";
import { PosthornError } from "../errors.ts";
import { executePrepared } from "./bind-message.ts";
import { isConflict, isUnavailable } from "./database-errors.ts";
import { rowTypes } from "./row-types.ts";
import { durableCommit, inSchema, type Statement } from "./sql.ts";

export { isConflict, isDuplicate, isLockTimeout, isSchemaMissing, isUnavailable } from "./database-errors.ts";

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
  readonly onError?: (kind: "unavailable" | "conflict" | "rejected") => void;
}

export class Database implements Queryable {
  readonly schema: string;
  readonly #pool: pg.Pool;
  readonly #ownsPool: boolean;
  readonly #onError: DatabaseOptions["onError"];
  readonly #texts = new Map<string, string>();
  /** Named prepared statements fail behind a transaction pooler; known after the first direct connection. */
  #preparesStatements = false;
  readonly #swallowPoolError = (): void => {};
  readonly #listenToErrors = (client: pg.PoolClient): void => {
    client.on("error", this.#swallowPoolError);
  };

  constructor(options: DatabaseOptions) {
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
      await client.query(withTimeout(begin));
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
   * LISTEN, and the write loop. `isDirect` is false behind a pooler, where there is no session that could hold a lock or listen.
   */
  async connect(): Promise<DirectConnection> {
    const client = new pg.Client({
      ...this.connectionOptions,
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
    const prepared = new Set<string>();
    return {
      isDirect,
      lost,
      query: async <Row>(statement: Statement, values: readonly unknown[] = []) => {
        const config = {
          text: this.text(statement),
          values: [...values],
          types: rowTypes,
          // planning takes longer than a heartbeat; LISTEN has no parameters, and a channel instead
          ...(isDirect && values.length > 0 ? { name: this.#preparedName(statement) } : {}),
        };
        return (await client.query<Row & pg.QueryResultRow>(config as pg.QueryConfig)).rows;
      },
      execute: async (statement, values) => {
        const name = this.#preparedName(statement);
        if (!prepared.has(name)) {
          await client.query("set plan_cache_mode = force_generic_plan");
          await client.query(`prepare "${name}" as ${this.text(statement)}`);
          prepared.add(name);
        }
        try {
          return await executePrepared(client, name, values);
        } catch (error) {
          this.#noteError(error);
          throw error;
        }
      },
      onNotification: (listener) =>
        client.on("notification", ({ channel, payload }) => listener(channel, payload ?? "")),
      close,
    };
  }

  /** How the pool connects. */
  get connectionOptions(): pg.ClientConfig {
    return (this.#pool as unknown as { options: pg.ClientConfig }).options;
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
    this.#onError?.(isUnavailable(error) ? "unavailable" : isConflict(error) ? "conflict" : "rejected");
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

  #preparedName(statement: Statement): string {
    return `posthorn ${this.schema} ${statement.name}`;
  }

  #queryConfig(statement: Statement, values: readonly unknown[]): pg.QueryConfig {
    const config = {
      text: this.text(statement),
      values: values as unknown[],
      types: rowTypes,
      query_timeout: statement.hasNoTimeout ? undefined : statementTimeoutMs,
    };
    return (this.#preparesStatements && !statement.replansEachTime
      ? { ...config, name: this.#preparedName(statement) }
      : config) as unknown as pg.QueryConfig;
  }
}

/**
 * A network that drops packets never reports a lost connection, so a timeout counts as one. The server may still execute
 * the statement; the caller must handle that like any lost reply.
 */
const statementTimeoutMs = 5_000;

/**
 * A frozen or disconnected process would keep its locks until TCP times out, after hours. The settings are sent in one
 * round trip with `begin`, for this transaction only. The transaction gets its id at once, which publishing in it needs.
 */
const begin = `begin; set local idle_in_transaction_session_timeout = '10s'; select ${durableCommit}, pg_current_xact_id()`;

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
  /**
   * Runs a statement that returns one row, prepared with a generic plan, and returns the columns as text. The values are
   * in PostgreSQL's binary format. Only for a direct connection.
   */
  execute(statement: Statement, values: readonly Buffer[]): Promise<readonly (string | null)[]>;
  onNotification(listener: (channel: string, payload: string) => void): void;
  close(): Promise<void>;
}
