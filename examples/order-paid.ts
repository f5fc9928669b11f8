// Publishes an event in the transaction that stores the order.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
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
const { data: endpoints } = await hooks.endpoints.list("acme");
if (endpoints.length === 0) {
  const { secret } = await hooks.endpoints.create("acme", {
    url: process.env.RECEIVER_URL ?? "http://127.0.0.1:3000/webhooks",
    events: ["order.*"],
    secret: process.env.WEBHOOK_SECRET, // generated if unset
  });
  console.log(`the receiver verifies with ${secret}`); // returned only here
}

const order = `order-${randomUUID()}`;
const client = await pool.connect();
await client.query("begin");
await client.query("create table if not exists orders (id text primary key, total numeric)");
await client.query("insert into orders values ($1, 19.90)", [order]);
const { id } = await hooks.publish(
  { tenant: "acme", type: "order.paid", data: { order, total: 19.9 } },
  { tx: client },
);
await client.query("commit"); // the event exists if and only if this succeeds
client.release();
console.log(`committed ${id}`);

await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
await hooks.stop(); // drains: finishes attempts in flight, releases the rest
await pool.end();
