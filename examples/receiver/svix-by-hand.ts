// Svix's SDK: it verifies, everything else is up to you.
import { Hono } from "hono";
import { Webhook } from "svix";

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? "");
export const app = new Hono();

app.post("/webhooks", async (c) => {
  try {
    const event = webhook.verify(await c.req.text(), c.req.header()) as { type: string };
    console.log(event.type); // handled before? running elsewhere? failed last time?
    return c.body(null, 204);
  } catch {
    return c.body(null, 400);
  }
});
