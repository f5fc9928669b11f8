// The `pg` library: the handler's transaction is a client checked out of your pool.
import { HandlerTimeout } from "../../errors.ts";
import type { PostgresDatabase, Query, Row, Statement, Value } from "./database.ts";
import { inlined } from "./inlined.ts";

/** The used part of a `pg` Pool. */
export interface PgPool {
  readonly options?: { readonly max?: number };
  connect(): Promise<PgClient>;
}

/** The pool's own client type. Both overloads of `connect` are named, because TypeScript would infer from the last one. */
export type ClientOf<Pool> = Pool extends {
  connect: { (): Promise<infer Client>; (callback: never): void };
}
  ? Client
  : Pool extends { connect(): Promise<infer Client> }
    ? Client
    : never;

/** The used part of a `pg` PoolClient. */
export interface PgClient {
  query(text: string, values?: Value[]): Promise<unknown>;
  release(error?: Error | boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

export function poolDatabase(pool: PgPool): PostgresDatabase<PgClient> {
  return {
    // PostgreSQL sends an error before it rolls back. The next statement returns after the rollback, so that a retry on another
    // connection does not find the locks of this one.
    query: (text, values) => withClient(pool, "", (client) => queryOn(client)(text, values)),
    transaction: (first, work) =>
      withClient(pool, "rollback", async (client) => {
        const rows = await begin(client, first);
        const { last, result } = await work(client, rows, queryOn(client));
        // If the last statement fails, PostgreSQL skips the commit.
        await client.query(last === null ? "commit" : `${inlined(last)}; commit`);
        return result;
      }),
  };
}

/** Runs `afterError` on the same connection if `use` fails. */
async function withClient<Result>(
  pool: PgPool,
  afterError: string,
  use: (client: PgClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  if (typeof client?.release !== "function") {
    throw new TypeError(
      "postgresStore received a pg Client. Pass a Pool: each handler needs its own connection.",
    );
  }
  // Otherwise a connection that is lost while idle would end the process.
  client.on("error", ignore);
  const { release } = client;
  client.release = rejectRelease;
  let fault: Error | undefined;
  try {
    return await use(client);
  } catch (error) {
    // A connection in an unknown state, or one that a handler may still use, must not return to the pool; a rollback would wait
    // behind the handler's statement.
    fault =
      error instanceof HandlerTimeout ? error : await client.query(afterError).then(() => undefined, asError);
    throw error;
  } finally {
    client.off("error", ignore);
    client.release = release;
    const isClosed = fault instanceof HandlerTimeout ? closed(client) : null;
    client.release(fault);
    await isClosed;
  }
}

function queryOn(client: PgClient): Query {
  return async (text, values) => ((await client.query(text, [...values])) as { rows: Row[] }).rows;
}

/** Sends `begin` and the statement together, without a prepared statement, which poolers may not support. */
async function begin(client: PgClient, first: Statement): Promise<readonly Row[]> {
  const [, { rows }] = (await client.query(`begin; ${inlined(first)}`)) as [unknown, { rows: Row[] }];
  return rows;
}

/** PostgreSQL releases a transaction's locks before it closes, and the failure is recorded next. It closes at once unless a statement runs. */
function closed(client: PgClient): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, CLOSE_WAIT_MS);
    client.on("end", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const CLOSE_WAIT_MS = 1_000;

/** For handlers: the next one to get the connection would work in this one's transaction. */
function rejectRelease(): never {
  throw new Error(
    "A handler called tx.release(). Leave that to the receiver, which releases the connection when the transaction ends.",
  );
}

const ignore = (): void => {};

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
