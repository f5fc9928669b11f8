// The same endpoint with the receiver. svix() reads `svix-*` headers, standardWebhooks() reads `webhook-*` headers.
import { createReceiver, memoryStore, standardWebhooks, svix } from "@posthorn/receiver";
import { Hono } from "hono";

const secrets = [process.env.WEBHOOK_SECRET];
const receiver = createReceiver({
  sources: [svix({ secrets }), standardWebhooks({ secrets })],
  store: memoryStore(),
});
receiver.fallback((event) => console.log(event.type));
export const app = new Hono().all("/webhooks", (c) => receiver.fetch(c.req.raw));
