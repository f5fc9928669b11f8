// Next.js, app router: app/webhooks/route.ts
import { createReceiver, posthorn } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

const store = postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
const receiver = createReceiver({ sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })], store });
receiver.on("order.paid", async (event, { tx }) => {
  await tx.query("insert into payments (event, data) values ($1, $2)", [event.id, event.data]);
});
export const POST = receiver.fetch; // store.migrate() ran when you deployed
