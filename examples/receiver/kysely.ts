// Kysely: `tx` is the transaction of db.transaction().execute().
import { createReceiver, posthorn } from "@posthorn/receiver";
import { kyselyDatabase, postgresStore } from "@posthorn/receiver/postgres";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

interface Tables {
  payments: { event: string; data: unknown };
}
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: postgresStore(kyselyDatabase(db)),
});
receiver.on("order.paid", async (event, { tx }) => {
  await tx
    .insertInto("payments")
    .values({ event: event.id, data: JSON.stringify(event.data) })
    .execute();
});
