// What a handler gets as `tx` is the library's own transaction, with its types.
import { createReceiver, posthorn } from "@posthorn/receiver";
import { expressHandler } from "@posthorn/receiver/express";
import {
  drizzleDatabase,
  knexDatabase,
  kyselyDatabase,
  postgresStore,
  prismaDatabase,
} from "@posthorn/receiver/postgres";
import { redisStore } from "@posthorn/receiver/redis";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { jsonb, pgTable, text } from "drizzle-orm/pg-core";
import express from "express";
import { Redis } from "ioredis";
import knex from "knex";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { z } from "zod";

const sources = [posthorn({ secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] })];
const events = { "order.paid": z.object({ order: z.string(), total: z.coerce.number() }) };
const pool = new pg.Pool({ connectionString: "postgres://127.0.0.1:1/none" });

const byPg = createReceiver({ sources, events, store: postgresStore(pool) });
byPg.on("order.paid", async ({ data }, { tx }) => {
  const client: pg.PoolClient = tx;
  const { rows } = await client.query<{ id: string }>("insert into payments values ($1) returning id", [
    data,
  ]);
  const total: number = data.total;
  // @ts-expect-error the schema has no such field
  data.amount;
  return [rows[0]?.id.length, total];
});

const payments = pgTable("payments", { event: text().primaryKey(), data: jsonb() });
const db = drizzle(pool);
type DrizzleTx = Parameters<Parameters<typeof db.transaction>[0]>[0];
const byDrizzle = createReceiver({ sources, events, store: postgresStore(drizzleDatabase(db, sql)) });
byDrizzle.on("order.paid", async ({ id, data }, { tx }) => {
  const transaction: DrizzleTx = tx;
  await transaction.insert(payments).values({ event: id, data });
  // @ts-expect-error the table has no such column
  await tx.insert(payments).values({ id });
});

const kysely = new Kysely<{ payments: { event: string } }>({ dialect: new PostgresDialect({ pool }) });
const byKysely = createReceiver({ sources, store: postgresStore(kyselyDatabase(kysely)) });
byKysely.on("order.paid", async ({ id }, { tx }) => {
  await tx.insertInto("payments").values({ event: id }).execute();
  // @ts-expect-error there is no such table
  tx.insertInto("payment");
});

const byKnex = createReceiver({ sources, store: postgresStore(knexDatabase(knex({ client: "pg" }))) });
byKnex.on("order.paid", async ({ id }, { tx }) => {
  await tx("payments").insert({ event: id });
});

/** As Prisma generates it. */
interface PrismaClient {
  $transaction<Steps extends PromiseLike<unknown>[]>(
    steps: [...Steps],
    options?: { isolationLevel?: "Serializable" },
  ): Promise<unknown>;
  $transaction<Result>(
    work: (tx: Omit<PrismaClient, "$transaction" | "$disconnect">) => Promise<Result>,
    options?: { maxWait?: number; timeout?: number; isolationLevel?: "Serializable" },
  ): Promise<Result>;
  $queryRawUnsafe<Result = unknown>(
    query: string,
    ...values: unknown[]
  ): Promise<Result> & { then: Promise<Result>["then"] };
  $disconnect(): Promise<void>;
  readonly payment: { create(args: { data: { event: string } }): Promise<{ id: number }> };
}
export function byPrisma(prisma: PrismaClient) {
  const receiver = createReceiver({
    sources,
    store: postgresStore(prismaDatabase(prisma, { timeout: 15_000 })),
  });
  receiver.on("order.paid", async ({ id }, { tx }) => {
    await tx.payment.create({ data: { event: id } });
    // @ts-expect-error the transaction has none of its own
    tx.$transaction;
  });
}

const redis = new Redis({ lazyConnect: true });
const byRedis = createReceiver({ sources, store: redisStore(redis) });
byRedis.on("order.paid", (_event, { tx }) => {
  const nothing: never = tx;
  return nothing;
});

express().all("/webhooks", expressHandler(byPg));
console.log("made");
