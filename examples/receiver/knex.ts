// Knex: `tx` is the transaction of knex.transaction(). It works with Objection too: Payment.query(tx).
import { createReceiver, posthorn } from "@posthorn/receiver";
import { knexDatabase, postgresStore } from "@posthorn/receiver/postgres";
import knex from "knex";

const db = knex({ client: "pg", connection: process.env.DATABASE_URL ?? "" });

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: postgresStore(knexDatabase(db)),
});
receiver.on("order.paid", async (event, { tx }) => {
  await tx("payments").insert({ event: event.id, data: JSON.stringify(event.data) });
});
