// What nobody should try for ever: found by an alert, looked at, replayed after the fix.
import { createReceiver, PermanentFailure, posthorn } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL })),
  deadLetters: { afterTries: 5 }, // and at once by PermanentFailure
  onDead: ({ message, error }) => console.error(`${message?.type} ${message?.id} is dead`, error),
});

receiver.on("order.paid", async (event, { tx }) => {
  const { total } = event.data as { total: number };
  if (total < 0) throw new PermanentFailure("An order cannot cost less than nothing.");
  await tx.query("insert into payments values ($1, $2)", [event.id, JSON.stringify(event.data)]);
});

/** Call it when the cause is mended. */
export async function replayAll(): Promise<void> {
  for (const { message, error } of await receiver.deadLetters.list()) {
    console.log(message.id, error, await receiver.deadLetters.replay(message)); // done, failed, skipped or unknown
  }
}
