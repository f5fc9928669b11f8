// The database libraries that applications use, connected: how each begins, nests, and sends a statement.
import { sql } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { drizzle as drizzlePostgresJs, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import knex, { type Knex } from "knex";
import { CompiledQuery, Kysely, type Transaction as KyselyTransaction, PostgresDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import type { PublishStatement, Transaction } from "posthorn";
import { createPool, inTransaction } from "./postgres.ts";

/** `Transaction` as the type of `Tx` checks that the types of the library are accepted. */
export interface OpenLibrary<Tx extends Transaction> {
  /** Commits, or rolls back if the work throws. */
  transaction(work: (tx: Tx) => Promise<unknown>): PromiseLike<unknown>;
  /** The same in a transaction: a savepoint. */
  nested(tx: Tx, work: (tx: Tx) => Promise<unknown>): PromiseLike<unknown>;
  /** A statement without values. */
  execute(tx: Tx, text: string): PromiseLike<unknown>;
  /** As an application sends the statement of `publishStatement`. */
  send(tx: Tx, statement: PublishStatement): PromiseLike<unknown>;
  /** Objects that commit each statement by themselves, passed by mistake. */
  readonly mistakes: Readonly<Record<string, Transaction>>;
  close(): Promise<unknown>;
}

type Open<Tx extends Transaction> = (connectionString: string) => Promise<OpenLibrary<Tx>>;

type OnNodePostgres = Parameters<Parameters<NodePgDatabase["transaction"]>[0]>[0];
type OnPostgresJs = Parameters<Parameters<PostgresJsDatabase["transaction"]>[0]>[0];

/** Keeps the type of a library's transaction within its row. */
function opener<Tx extends Transaction>(open: Open<Tx>): Open<Transaction> {
  return open as unknown as Open<Transaction>;
}

/** A nested transaction of libraries that have none. */
async function inSavepoint<Tx extends Transaction>(
  execute: (text: string) => PromiseLike<unknown>,
  tx: Tx,
  work: (tx: Tx) => Promise<unknown>,
): Promise<unknown> {
  await execute("savepoint nested");
  try {
    return await work(tx);
  } catch (error) {
    await execute("rollback to nested");
    throw error;
  }
}

export const openLibraries: Readonly<Record<string, Open<Transaction>>> = {
  pg: opener<pg.PoolClient>(async (connectionString) => {
    const pool = createPool(connectionString);
    const client = await pool.connect();
    const ended = await pool.connect();
    await ended.query("begin");
    await ended.query("commit");
    return {
      transaction: (work) => inTransaction(pool, work),
      nested: (tx, work) => inSavepoint((text) => tx.query(text), tx, work),
      execute: (tx, text) => tx.query(text),
      send: async (tx, { text, values }) => (await tx.query(text, values)).rows,
      mistakes: { "a pool": pool, "a client without begin": client, "a client after commit": ended },
      async close() {
        for (const { release } of [client, ended]) release();
        await pool.end();
      },
    };
  }),

  "postgres.js": opener<postgres.TransactionSql>(async (connectionString) => {
    const db = openPostgresJs(connectionString);
    const reserved = await db.reserve();
    return {
      transaction: (work) => db.begin(work),
      nested: (tx, work) => tx.savepoint(work),
      execute: (tx, text) => tx.unsafe(text),
      send: (tx, { text, values }) => tx.unsafe(text, values),
      mistakes: { "the pool": db, "a reserved connection": reserved },
      async close() {
        reserved.release();
        await db.end();
      },
    };
  }),

  "Drizzle on node-postgres": opener<OnNodePostgres>(async (connectionString) => {
    const pool = createPool(connectionString);
    const db = drizzle(pool);
    return {
      transaction: (work) => db.transaction(work),
      nested: (tx, work) => tx.transaction(work),
      execute: (tx, text) => tx.execute(text),
      send: async (tx, statement) => (await tx.execute(drizzleSql(statement))).rows,
      mistakes: { "the database": db },
      close: () => pool.end(),
    };
  }),

  "Drizzle on postgres.js": opener<OnPostgresJs>(async (connectionString) => {
    const client = openPostgresJs(connectionString);
    const db = drizzlePostgresJs(client);
    return {
      transaction: (work) => db.transaction(work),
      nested: (tx, work) => tx.transaction(work),
      execute: (tx, text) => tx.execute(text),
      send: (tx, statement) => tx.execute(drizzleSql(statement)),
      mistakes: { "the database": db },
      close: () => client.end(),
    };
  }),

  Kysely: opener<KyselyTransaction<unknown>>(async (connectionString) => {
    const pool = createPool(connectionString);
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    return {
      transaction: (work) => db.transaction().execute(work),
      nested: (tx, work) => inSavepoint((text) => tx.executeQuery(CompiledQuery.raw(text)), tx, work),
      execute: (tx, text) => tx.executeQuery(CompiledQuery.raw(text)),
      send: async (tx, { text, values }) => (await tx.executeQuery(CompiledQuery.raw(text, values))).rows,
      mistakes: { "the database": db },
      close: () => db.destroy(),
    };
  }),

  Knex: opener<Knex.Transaction>(async (connectionString) => {
    const db = knex({ client: "pg", connection: connectionString, pool: { min: 0, max: 4 } });
    return {
      transaction: (work) => db.transaction(work),
      nested: (tx, work) => tx.transaction(work),
      execute: (tx, text) => tx.raw(text),
      // it has no $1, but names
      send: async (tx, { text, values }) => {
        const named = Object.fromEntries(values.map((value, index) => [`v${index + 1}`, value]));
        return (await tx.raw(text.replaceAll(/\$(\d+)/g, ":v$1 "), named)).rows;
      },
      mistakes: { "the database": db },
      close: () => db.destroy(),
    };
  }),
};

/** It does not read the socket from a connection string. */
function openPostgresJs(connectionString: string): postgres.Sql {
  const { host, port, user, password, database } = new pg.Client({ connectionString });
  const server = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  return postgres({ ...server, user, password, database, max: 4, onnotice: () => {} } as object);
}

/** Drizzle numbers the values itself. */
function drizzleSql({ text, values }: PublishStatement) {
  const parts = text
    .split(/\$(\d+)/)
    .map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${values[Number(part) - 1]}`));
  return sql.join(parts);
}
