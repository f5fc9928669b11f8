// An endpoint written by hand, with its own table of ids.
import { createHmac, timingSafeEqual } from "node:crypto";
import express from "express";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
export const app = express();

app.post("/webhooks", express.raw({ type: "*/*", limit: "1mb" }), async (request, response) => {
  const id = request.get("webhook-id") ?? "";
  const timestamp = request.get("webhook-timestamp") ?? "";
  const key = Buffer.from((process.env.WEBHOOK_SECRET ?? "").replace("whsec_", ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(request.body).digest();
  const isSigned = (request.get("webhook-signature") ?? "").split(" ").some((signature) => {
    const given = Buffer.from(signature.replace("v1,", ""), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300)
    return void response.sendStatus(401);

  const { rowCount } = await pool.query("insert into seen (id) values ($1) on conflict do nothing", [id]);
  if (rowCount === 0) return void response.sendStatus(200); // but the first delivery may still be running, or may have failed
  try {
    const event = JSON.parse(String(request.body));
    if (event.type === "order.paid") {
      await pool.query("insert into payments values ($1, $2)", [id, JSON.stringify(event.data)]);
    }
    response.sendStatus(200);
  } catch {
    await pool.query("delete from seen where id = $1", [id]); // not reached if the process dies first
    response.sendStatus(500);
  }
});
