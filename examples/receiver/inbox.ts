// A handler that takes longer than the sender waits: acknowledged with 202, worked on by start().
import { createReceiver, posthorn } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL })),
  mode: "inbox",
  inbox: { concurrency: 5 },
  retries: { firstDelayMs: 5_000, maxDelayMs: 600_000 },
});

receiver.on("order.paid", async (event, { tx }) => {
  await tx.query("insert into payments values ($1, $2)", [event.id, JSON.stringify(event.data)]);
});

await receiver.start();
process.once("SIGTERM", () => receiver.stop()); // ends what is in hand
