// Dead letters: found by an alert, examined, replayed after the fix.
import { createReceiver, type MessageKey, PermanentFailure, posthorn } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL })),
  deadLetters: { afterFailures: 5 }, // PermanentFailure skips the retries
  onDead: ({ message, error }) => console.error(`${message?.type} ${message?.id} is dead`, error),
});

receiver.on("order.paid", async (event, { tx }) => {
  const { total } = event.data as { total: number };
  if (total < 0) throw new PermanentFailure("An order cannot cost less than nothing.");
  await tx.query("insert into payments values ($1, $2)", [event.id, JSON.stringify(event.data)]);
});

/** Call this after the cause is fixed. */
export async function replayAll(): Promise<void> {
  const keys: MessageKey[] = [];
  let page = await receiver.deadLetters.list(); // the newest 100
  while (page.length > 0) {
    keys.push(...page.map(({ message: { source, id } }) => ({ source, id })));
    page = await receiver.deadLetters.list({ after: page.at(-1) });
  }
  for (const key of keys.reverse()) {
    console.log(key.id, await receiver.deadLetters.replay(key)); // done, failed, skipped or unknown
  }
}
