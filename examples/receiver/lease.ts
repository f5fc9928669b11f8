// An effect outside your transactions: a mail is sent through an external API.
import { createReceiver, posthorn } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";
import { sendMail } from "./mail.ts";

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL })),
  mode: "lease",
});

receiver.on("order.paid", async (event, { signal }) => {
  // after a crash the mail service recognises the key and sends no second mail
  await sendMail({ text: "Thank you!", idempotencyKey: event.id, signal });
});
