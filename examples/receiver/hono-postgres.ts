// Hono, on any runtime that reaches a PostgreSQL.
import { createReceiver, posthorn } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import { Hono } from "hono";
import pg from "pg";

const store = postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
await store.migrate();
const receiver = createReceiver({ sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })], store });
receiver.on("order.paid", async (event, { tx }) => {
  await tx.query("insert into payments values ($1, $2)", [event.id, JSON.stringify(event.data)]);
});
export const app = new Hono().all("/webhooks", (c) => receiver.fetch(c.req.raw));
