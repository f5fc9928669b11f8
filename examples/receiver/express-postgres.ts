// Express and PostgreSQL: the claim, the payment and the completion are one commit.
import { createReceiver, posthorn } from "@posthorn/receiver";
import { expressHandler } from "@posthorn/receiver/express";
import { postgresStore } from "@posthorn/receiver/postgres";
import express from "express";
import pg from "pg";

const store = postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
await store.migrate();
const receiver = createReceiver({ sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })], store });
receiver.on("order.paid", async (event, { tx }) => {
  await tx.query("insert into payments values ($1, $2)", [event.id, JSON.stringify(event.data)]);
});
export const app = express().all("/webhooks", expressHandler(receiver));
