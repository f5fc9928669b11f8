import { drizzleDatabase, knexDatabase, kyselyDatabase, postgresStore } from "@posthorn/receiver/postgres";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import knex, { type Knex } from "knex";
import { Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import { expect, expectTypeOf, test } from "vitest";

const pool = new pg.Pool();
const drizzled = drizzle(pool);
const kysely = new Kysely<{ orders: { id: string } }>({ dialect: new PostgresDialect({ pool }) });
const knexed = knex({ client: "pg" });

test.each([
  ["a Drizzle database", drizzled],
  ["a Kysely database", kysely],
  ["a Knex instance", knexed],
  ["a connection string", "postgres://localhost/shop"],
  ["nothing", undefined],
])("%s itself is refused, and the message names what to give", (_, given) => {
  expect(() => postgresStore(given as never)).toThrow(/kyselyDatabase\(db\)/);
});

test("a misspelt option is refused, and the right one named", () => {
  expect(() => postgresStore(pool, { shema: "mine" } as object)).toThrow("Did you mean schema?");
});

test("a Client in place of a Pool is refused when it matters", async () => {
  const client = { query: () => {}, connect: async () => undefined };
  await expect(
    postgresStore(client as never).transactions?.finish({} as never, async () => {}),
  ).rejects.toThrow(/Pass a Pool/);
});

test("a handler's transaction has the type of the library's own", () => {
  type TxOf<Made> = Made extends { transactions: infer Transactions }
    ? NonNullable<Transactions> extends {
        finish(claim: never, work: (tx: infer Tx) => Promise<void>): unknown;
      }
      ? Tx
      : never
    : never;
  const byPg = postgresStore(pool);
  const byDrizzle = postgresStore(drizzleDatabase(drizzled, sql));
  const byKysely = postgresStore(kyselyDatabase(kysely));
  const byKnex = postgresStore(knexDatabase(knexed));
  expectTypeOf<TxOf<typeof byPg>>().toEqualTypeOf<pg.PoolClient>();
  expectTypeOf<TxOf<typeof byDrizzle>>().toEqualTypeOf<
    Parameters<Parameters<typeof drizzled.transaction>[0]>[0]
  >();
  expectTypeOf<TxOf<typeof byKysely>>().toEqualTypeOf<Transaction<{ orders: { id: string } }>>();
  expectTypeOf<TxOf<typeof byKnex>>().toEqualTypeOf<Knex.Transaction>();
});
