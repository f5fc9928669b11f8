// A handler that takes longer than the sender waits: acknowledged with 202, handled in the background by start().
import { createServer } from "node:http";
import { createReceiver, posthorn } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const store = postgresStore(pool);
await store.migrate();

const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store,
  mode: "inbox",
  inbox: { concurrency: 5 },
  retries: { firstDelayMs: 5_000, maxDelayMs: 600_000 },
});

receiver.on("order.paid", async (event, { tx }) => {
  await tx.query("insert into payments values ($1, $2)", [event.id, JSON.stringify(event.data)]);
});

await receiver.start();
export const server = createServer(nodeHandler(receiver)).listen(Number(process.env.PORT ?? 3000));

process.once("SIGTERM", async () => {
  await new Promise((resolve) => server.close(resolve)); // finishes open requests and accepts no more
  await receiver.stop(); // finishes what is in progress
  await pool.end();
});
