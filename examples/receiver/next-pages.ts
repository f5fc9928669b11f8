// Next.js, pages router: pages/api/webhooks.ts
import { createReceiver, posthorn } from "@posthorn/receiver";
import { nextPagesHandler } from "@posthorn/receiver/next-pages";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

const store = postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
const receiver = createReceiver({ sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })], store });
receiver.on("order.paid", async (event, { tx }) => {
  await tx.query("insert into payments values ($1, $2)", [event.id, JSON.stringify(event.data)]);
});

export const config = { api: { bodyParser: false } };
export default nextPagesHandler(receiver); // store.migrate() ran when you deployed
