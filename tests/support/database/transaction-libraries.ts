// The database libraries that applications use, connected: how each begins, nests, and sends a statement.
import { MikroORM, type EntityManager as MikroOrmEntityManager } from "@mikro-orm/postgresql";
import type { PrismaExecutor } from "@posthorn/receiver/postgres";
import { sql } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { drizzle as drizzlePostgresJs, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import knex, { type Knex } from "knex";
import { CompiledQuery, Kysely, type Transaction as KyselyTransaction, PostgresDialect } from "kysely";
import { Model } from "objection";
import pg from "pg";
import postgres from "postgres";
import type { PublishStatement, Transaction } from "posthorn";
import { QueryTypes, Sequelize, type Transaction as SequelizeTransaction } from "sequelize";
import { createPool as createSlonik, type DatabaseTransactionConnection, sql as slonikSql } from "slonik";
import { DataSource, type EntityManager, type QueryRunner } from "typeorm";
import { createPrismaClient } from "../receiver/prisma-client.ts";
import { createPool, inTransaction } from "./postgres.ts";

/** `Transaction` as the type of `Tx` checks that the types of the library are accepted. */
export interface OpenLibrary<Tx extends Transaction> {
  /** The pool, database, client or manager that begins transactions. */
  readonly db: unknown;
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
      db: pool,
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
      db,
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
      db,
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
      db,
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
      db,
      transaction: (work) => db.transaction().execute(work),
      nested: (tx, work) => inSavepoint((text) => tx.executeQuery(CompiledQuery.raw(text)), tx, work),
      execute: (tx, text) => tx.executeQuery(CompiledQuery.raw(text)),
      send: async (tx, { text, values }) => (await tx.executeQuery(CompiledQuery.raw(text, values))).rows,
      mistakes: { "the database": db },
      close: () => db.destroy(),
    };
  }),

  Knex: opener<Knex.Transaction>(async (connectionString) => {
    const db = openKnex(connectionString);
    return {
      db,
      transaction: (work) => db.transaction(work),
      nested: (tx, work) => tx.transaction(work),
      execute: (tx, text) => tx.raw(text),
      send: async (tx, statement) => (await tx.raw(...withQuestionMarks(statement))).rows,
      mistakes: { "the database": db },
      close: () => db.destroy(),
    };
  }),

  Objection: opener<Knex.Transaction>(async (connectionString) => {
    const db = openKnex(connectionString);
    class Order extends Model {
      static override tableName = "orders";
    }
    Order.knex(db);
    return {
      db: Order,
      transaction: (work) => Order.transaction(work),
      nested: (tx, work) => Order.transaction(tx, work),
      execute: (tx, text) => tx.raw(text),
      send: async (tx, statement) => (await tx.raw(...withQuestionMarks(statement))).rows,
      mistakes: { "the Knex of a model": Order.knex(), "the model": Order as unknown as Transaction },
      close: () => db.destroy(),
    };
  }),

  Prisma: opener<PrismaExecutor>(async (connectionString) => {
    const prisma = createPrismaClient(connectionString);
    return {
      db: prisma,
      transaction: (work) => prisma.$transaction(work, { maxWait: 60_000, timeout: 60_000 }),
      nested: (tx, work) => inSavepoint((text) => tx.$queryRawUnsafe(text), tx, work),
      execute: (tx, text) => tx.$queryRawUnsafe(text),
      send: (tx, { text, values }) => tx.$queryRawUnsafe(text, ...values),
      mistakes: { "the client": prisma },
      close: () => prisma.$disconnect(),
    };
  }),

  "TypeORM's manager": opener<EntityManager>(async (connectionString) => {
    const source = await openTypeOrm(connectionString);
    return {
      db: source,
      transaction: (work) => source.transaction(work),
      nested: (tx, work) => tx.transaction(work),
      execute: (tx, text) => tx.query(text),
      send: (tx, { text, values }) => tx.query(text, values),
      mistakes: { "the data source": source, "its manager": source.manager },
      close: () => source.destroy(),
    };
  }),

  "TypeORM's query runner": opener<QueryRunner>(async (connectionString) => {
    const source = await openTypeOrm(connectionString);
    const idle = source.createQueryRunner();
    return {
      db: source,
      async transaction(work) {
        const runner = source.createQueryRunner();
        try {
          await runner.startTransaction();
          const result = await work(runner);
          await runner.commitTransaction();
          return result;
        } catch (error) {
          await runner.rollbackTransaction();
          throw error;
        } finally {
          await runner.release();
        }
      },
      nested: (tx, work) => tx.manager.transaction(() => work(tx)),
      execute: (tx, text) => tx.query(text),
      send: (tx, { text, values }) => tx.query(text, values),
      mistakes: { "a query runner without startTransaction": idle },
      async close() {
        await idle.release();
        await source.destroy();
      },
    };
  }),

  Sequelize: opener<SequelizeTransaction>(async (connectionString) => {
    const { user, password, database, ...server } = serverOf(connectionString);
    const options = { ...server, dialect: "postgres", logging: false, pool: { max: 4 } } as const;
    const db = new Sequelize(database, user, password, options);
    return {
      db,
      transaction: (work) => db.transaction(work),
      nested: (transaction, work) => db.transaction({ transaction }, work),
      execute: (transaction, text) => db.query(text, { transaction }),
      send: (transaction, { text, values }) =>
        db.query(text, { transaction, bind: values, type: QueryTypes.SELECT }),
      mistakes: { "the instance": db as unknown as Transaction },
      close: () => db.close(),
    };
  }),

  MikroORM: opener<MikroOrmEntityManager>(async (connectionString) => {
    const { database: dbName, ...server } = serverOf(connectionString);
    const discovery = { warnWhenNoEntities: false };
    const orm = await MikroORM.init({ ...server, dbName, entities: [], discovery, pool: { max: 4 } });
    return {
      db: orm.em.fork(),
      transaction: (work) => orm.em.fork().transactional(work),
      nested: (tx, work) => tx.transactional(work),
      execute: (tx, text) => tx.execute(text),
      send: (tx, statement) => tx.execute(...withQuestionMarks(statement)),
      mistakes: { "an entity manager": orm.em.fork() },
      close: () => orm.close(),
    };
  }),

  Slonik: opener<DatabaseTransactionConnection>(async (connectionString) => {
    const { host, port, user, password, database } = serverOf(connectionString);
    const server = `postgresql://${user}:${password}@${encodeURIComponent(host)}:${port}/${database}`;
    const pool = await createSlonik(server, { maximumPoolSize: 4 });
    const sqlOf = ({ text, values }: PublishStatement) => ({ ...slonikSql.unsafe``, sql: text, values });
    return {
      db: pool,
      transaction: (work) => pool.transaction(work),
      nested: (tx, work) => tx.transaction(work),
      execute: (tx, text) => tx.query(sqlOf({ text, values: [] })),
      send: (tx, statement) => tx.any(sqlOf(statement)),
      mistakes: { "the pool": pool },
      close: () => pool.end(),
    };
  }),
};

/** Some libraries do not read a socket from a connection string. */
function serverOf(connectionString: string) {
  const { host, port, user = "", password = "", database = "" } = new pg.Client({ connectionString });
  return { host, port, user, password: password ?? "", database };
}

function openPostgresJs(connectionString: string): postgres.Sql {
  const { host, port, ...login } = serverOf(connectionString);
  const server = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  return postgres({ ...server, ...login, max: 4, onnotice: () => {} } as object);
}

const openKnex = (connection: string): Knex => knex({ client: "pg", connection, pool: { min: 0, max: 4 } });

async function openTypeOrm(connectionString: string): Promise<DataSource> {
  const { user: username, ...server } = serverOf(connectionString);
  return await new DataSource({ type: "postgres", username, ...server, poolSize: 4 }).initialize();
}

/** For libraries that have no `$1`. */
function withQuestionMarks({ text, values }: PublishStatement): [string, (string | null)[]] {
  const repeated = [...text.matchAll(/\$(\d+)/g)].map(([, place]) => values[Number(place) - 1] ?? null);
  return [text.replaceAll(/\$\d+/g, "?"), repeated];
}

/** Drizzle numbers the values itself. */
function drizzleSql({ text, values }: PublishStatement) {
  const parts = text
    .split(/\$(\d+)/)
    .map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${values[Number(part) - 1]}`));
  return sql.join(parts);
}
