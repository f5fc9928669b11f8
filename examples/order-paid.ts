// The library in an application: the order and its event are one transaction.

import pg from "pg";
import { createPosthorn } from "posthorn";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const hooks = createPosthorn({
  database: pool,
  encryptionKeys: process.env.POSTHORN_ENCRYPTION_KEYS,
  allowHttp: true, // the receiver below is on this machine
  allowCidrs: ["127.0.0.0/8"],
});
await hooks.migrate();
await hooks.start(); // workers in this process

await hooks.tenants.upsert("acme", { name: "Acme Inc." });
const { secret } = await hooks.endpoints.create("acme", {
  url: process.env.RECEIVER_URL ?? "http://127.0.0.1:3000/webhooks",
  events: ["order.*"],
});
console.log(`the receiver verifies with ${secret}`);

const client = await pool.connect();
await client.query("begin");
await client.query("create table if not exists orders (id text primary key, total numeric)");
await client.query("insert into orders values ('order-1', 19.90)");
const { id } = await hooks.publish(
  { tenant: "acme", type: "order.paid", data: { order: "order-1", total: 19.9 } },
  { tx: client },
);
await client.query("commit"); // now the event exists; a rollback would have undone it with the order
client.release();
console.log(`committed ${id}`);

process.once("SIGTERM", async () => {
  await hooks.stop(); // finishes what is in flight, gives back the rest
  await pool.end();
});
