// A copy of the sender's orders that never goes back to an older state.
import { createReceiver, posthorn } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL })),
  order: { gapWaitMs: 60_000 },
});

receiver.on("order.*", async (event, { tx }) => {
  await tx.query(
    `insert into orders (id, state) values ($1, $2)
     on conflict (id) do update set state = excluded.state`,
    [event.subject, event.type],
  );
});
