// Next.js, app router: app/webhooks/route.ts
import { createReceiver, posthorn } from "@posthorn/receiver";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";

let receive: ((request: Request) => Promise<Response>) | undefined;

export function POST(request: Request): Promise<Response> {
  receive ??= createOrders().fetch; // on the first request: `next build` loads this file without your secrets
  return receive(request);
}

function createOrders() {
  const store = postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
  const receiver = createReceiver({ sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })], store });
  receiver.on("order.paid", async (event, { tx }) => {
    await tx.query("insert into payments values ($1, $2)", [event.id, JSON.stringify(event.data)]);
  });
  return receiver; // store.migrate() ran when you deployed
}
