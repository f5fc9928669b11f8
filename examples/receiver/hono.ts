// Hono, on any runtime.
import { Hono } from "hono";
import { receiver } from "./receiver.ts";

export const app = new Hono();
app.all("/webhooks", (c) => receiver.fetch(c.req.raw));
