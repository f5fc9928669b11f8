// For a migration period: events handled by the old endpoint are in the old endpoint's table.
import { createReceiver, posthorn } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL })),
});

receiver.on("order.paid", async (event, { tx }) => {
  const { rows } = await tx.query("select id from seen where id = $1", [event.id]);
  if (rows.length > 0) return; // handled by the old endpoint
  await tx.query("insert into payments values ($1, $2)", [event.id, JSON.stringify(event.data)]);
});
