// Drizzle: `tx` is the transaction of db.transaction().
import { createReceiver, posthorn } from "@posthorn/receiver";
import { drizzleDatabase, postgresStore } from "@posthorn/receiver/postgres";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { jsonb, pgTable, text } from "drizzle-orm/pg-core";
import pg from "pg";

const payments = pgTable("payments", { event: text().primaryKey(), data: jsonb() });
const db = drizzle(new pg.Pool({ connectionString: process.env.DATABASE_URL }));

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: postgresStore(drizzleDatabase(db, sql)),
});
receiver.on("order.paid", async (event, { tx }) => {
  await tx.insert(payments).values({ event: event.id, data: event.data });
});
