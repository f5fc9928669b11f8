// The test environment of the PostgreSQL store: its own database, accessed through one of the supported libraries.
import type { Store, Transactions } from "@posthorn/receiver";
import {
  drizzleDatabase,
  knexDatabase,
  kyselyDatabase,
  type PostgresDatabase,
  type PostgresStoreOptions,
  postgresStore,
  prismaDatabase,
} from "@posthorn/receiver/postgres";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import knex from "knex";
import { Kysely, PostgresDialect, sql as raw } from "kysely";
import type pg from "pg";
import { afterAll } from "vitest";
import { createDatabase, createPool, type TestDatabase } from "../database/postgres.ts";
import { createPrismaClient } from "./prisma-client.ts";
import type { Effects, StoreWorld } from "./store-world.ts";

/** A library, connected. */
export interface Library<Tx> {
  readonly store: Store<Tx>;
  /** A statement without values in a handler's transaction. */
  execute(tx: Tx, statement: string): PromiseLike<unknown>;
  close(): Promise<void>;
}

export type OpenLibrary<Tx> = (connectionString: string) => Promise<Library<Tx>>;

export interface PostgresWorld<Tx> extends StoreWorld<Tx> {
  readonly connectionString: string;
  readonly execute: Library<Tx>["execute"];
  readonly transactions: Transactions<Tx>;
  readonly effects: Effects<Tx>;
  /** Beside the store's own connections. */
  readonly pool: pg.Pool;
}

/** A database for the whole file, emptied for each test: creating one takes longer than most tests. */
export function openPostgres<Tx>(
  open: OpenLibrary<Tx>,
  create: () => Promise<TestDatabase> = createDatabase,
): () => Promise<PostgresWorld<Tx>> {
  let opened: Promise<OpenedWorld<Tx>> | undefined;
  afterAll(async () => (await opened)?.closeForGood());
  return async () => {
    opened ??= openWorld(open, create);
    const { world } = await opened;
    await world.pool.query(
      `truncate posthorn_receiver.messages, posthorn_receiver.subjects, posthorn_receiver.subscriptions,
         posthorn_receiver.history, effects, broken
       restart identity`,
    );
    return world;
  };
}

interface OpenedWorld<Tx> {
  readonly world: PostgresWorld<Tx>;
  closeForGood(): Promise<void>;
}

async function openWorld<Tx>(
  open: OpenLibrary<Tx>,
  create: () => Promise<TestDatabase>,
): Promise<OpenedWorld<Tx>> {
  const database = await create();
  const pool = createPool(database.connectionString);
  const library = await open(database.connectionString);
  await library.store.migrate();
  await pool.query(effectTables);
  const write = (tx: Tx, effect: string) =>
    library.execute(tx, `insert into effects (effect) values ('${effect}')`);
  const world: PostgresWorld<Tx> = {
    connectionString: database.connectionString,
    execute: library.execute,
    pool,
    store: library.store,
    transactions: library.store.transactions as Transactions<Tx>,
    makeOlder: (ms) => makeOlder(pool, ms),
    rows: () => countRows(pool),
    effects: {
      write: async (tx, effect) => void (await write(tx, effect)),
      read: async () =>
        (await pool.query("select effect from effects order by id")).rows.map((row) => row.effect),
      breakCommit: async (tx) =>
        void (await library.execute(tx, "insert into broken (effect_id) values (0)")),
    },
    secondProcess: {
      moduleUrl: new URL("./postgres-opener.ts", import.meta.url).href,
      args: [database.connectionString],
    },
    close: async () => {},
  };
  return {
    world,
    async closeForGood() {
      await library.close();
      await pool.end();
      await database.drop();
    },
  };
}

const effectTables = `
create table effects (id serial primary key, effect text not null);
create table broken (effect_id integer references effects deferrable initially deferred);
`;

export async function makeOlder(pool: pg.Pool, ms: number): Promise<void> {
  const by = "make_interval(secs => $1::double precision / 1000)";
  await pool.query(
    `update posthorn_receiver.messages
     set since = since - ${by}, ready_at = ready_at - ${by}, seen_at = seen_at - ${by}`,
    [ms],
  );
  await pool.query(`update posthorn_receiver.history set received_at = received_at - ${by}`, [ms]);
  await pool.query(
    `update posthorn_receiver.subjects set lease_until = lease_until - ${by}, touched_at = touched_at - ${by}`,
    [ms],
  );
}

async function countRows(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(
    `select (select count(*) from posthorn_receiver.messages)::integer
          + (select count(*) from posthorn_receiver.subjects)::integer as count`,
  );
  return rows[0].count;
}

export const openPool: OpenLibrary<pg.PoolClient> = (connectionString) => openPoolWith(connectionString, {});

export async function openPoolWith(
  connectionString: string,
  config: pg.PoolConfig,
  options: PostgresStoreOptions = {},
): Promise<Library<pg.PoolClient>> {
  const pool = createPool(connectionString, config);
  return {
    store: postgresStore(pool, options),
    execute: (tx, statement) => tx.query(statement),
    close: () => pool.end(),
  };
}

export const openDrizzle = async (connectionString: string) => {
  const pool = createPool(connectionString);
  const database = drizzleDatabase(drizzle(pool), sql);
  return library(
    database,
    (tx, statement) => tx.execute(statement),
    () => pool.end(),
  );
};

export const openKysely = async (connectionString: string) => {
  const pool = createPool(connectionString);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  return library(
    kyselyDatabase(db),
    (tx, statement) => raw.raw(statement).execute(tx),
    () => db.destroy(),
  );
};

export const openKnex = async (connectionString: string) => {
  const db = knex({ client: "pg", connection: connectionString, pool: { min: 0, max: 4 } });
  return library(
    knexDatabase(db),
    (tx, statement) => tx.raw(statement),
    () => db.destroy(),
  );
};

export const openPrisma = async (connectionString: string) => {
  const prisma = createPrismaClient(connectionString);
  return library(
    prismaDatabase(prisma),
    (tx, statement) => tx.$queryRawUnsafe(statement),
    () => prisma.$disconnect(),
  );
};

function library<Tx>(
  database: PostgresDatabase<Tx>,
  execute: Library<Tx>["execute"],
  close: () => Promise<void>,
): Library<Tx> {
  return { store: postgresStore(database), execute, close };
}
