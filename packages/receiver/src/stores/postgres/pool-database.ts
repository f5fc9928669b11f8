// The `pg` library: the handler's transaction is a client checked out of your pool.
import type { Ending, PostgresDatabase, Query, Row, Value } from "./database.ts";

/** What is used of a `pg` Pool. */
export interface PgPool<Client extends PgClient = PgClient> {
  connect(): Promise<Client>;
  /** Not used. As many signatures as `pg` has, or TypeScript would not find out its client. */
  connect(callback: never): void;
  query(text: string, values: Value[]): Promise<{ readonly rows: unknown[] }>;
}

/** What is used of a `pg` PoolClient. */
export interface PgClient {
  query(text: string, values?: Value[]): Promise<unknown>;
  release(error?: Error | boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

export function poolDatabase<Client extends PgClient>(pool: PgPool<Client>): PostgresDatabase<Client> {
  return {
    query: async (text, values) => (await pool.query(text, [...values])).rows as Row[],
    async transaction(work) {
      const client = await pool.connect();
      // a connection that is lost while no statement runs would otherwise end the process
      client.on("error", ignore);
      let fault: Error | undefined;
      try {
        await client.query("begin");
        const ending = await work(client, queryOn(client));
        await commit(client, ending);
        return ending.result;
      } catch (error) {
        // a connection in a state that is not known must not go back to the pool
        fault = await client.query("rollback").then(() => undefined, asError);
        throw error;
      } finally {
        client.off("error", ignore);
        client.release(fault);
      }
    },
  };
}

function queryOn(client: PgClient): Query {
  return async (text, values) => ((await client.query(text, [...values])) as { rows: Row[] }).rows;
}

/** The last statement and the commit travel together. When it fails PostgreSQL does not go on to the commit. */
async function commit(client: PgClient, { lastly }: Ending<unknown>): Promise<void> {
  await client.query(lastly === null ? "commit" : `${lastly}; commit`);
}

const ignore = (): void => {};

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
