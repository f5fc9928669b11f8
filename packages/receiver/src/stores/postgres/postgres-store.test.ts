import { drizzleDatabase, knexDatabase, kyselyDatabase, postgresStore } from "@posthorn/receiver/postgres";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import knex, { type Knex } from "knex";
import { Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import { expect, expectTypeOf, test } from "vitest";
import { defaults, messageWith } from "../../../../../tests/support/receiver/store-world.ts";

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
])("%s itself is rejected, and the error names what to pass", (_, database) => {
  expect(() => postgresStore(database as never)).toThrow(/kyselyDatabase\(db\)/);
});

test("a misspelt option is rejected with a suggestion", () => {
  expect(() => postgresStore(pool, { shema: "mine" } as object)).toThrow("Did you mean schema?");
});

test("a Client instead of a Pool is rejected", async () => {
  const client = { query: () => {}, connect: async () => undefined };
  await expect(
    postgresStore(client as never).transactions?.run(messageWith(), defaults, async () => {}),
  ).rejects.toThrow(/Pass a Pool/);
});

test("a statement is retried after a conflict once PostgreSQL has rolled it back", async () => {
  const steps: string[] = [];
  const query = async (text: string) => {
    steps.push(text === "" ? "rolled back" : "statement");
    if (steps.length === 1) throw Object.assign(new Error("conflict"), { code: "40001" });
    return { rows: [{ count: 0 }] };
  };
  const client = { query, release: () => void steps.push("released"), on: () => {}, off: () => {} };
  const store = postgresStore({ connect: async () => client, query } as never);
  expect(await store.deadLetters.count()).toBe(0);
  expect(steps).toEqual(["statement", "rolled back", "released", "statement", "released"]);
});

test("a connection whose rollback fails is not returned to the pool", async () => {
  const lost = new Error("Connection terminated");
  const query = () => Promise.reject(lost);
  const released: unknown[] = [];
  const client = { query, release: (error?: Error) => released.push(error), on: () => {}, off: () => {} };
  const store = postgresStore({ connect: async () => client, query } as never);
  const run = store.transactions?.run(messageWith(), defaults, async () => {});
  await expect(run).rejects.toBe(lost);
  expect(released).toEqual([lost]);
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
