// The same endpoint with the receiver. Stripe's SDK is still used for its types and its API.
import { createReceiver, stripe } from "@posthorn/receiver";
import { expressHandler } from "@posthorn/receiver/express";
import { postgresStore } from "@posthorn/receiver/postgres";
import express from "express";
import pg from "pg";
import type Stripe from "stripe";

const store = postgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
const receiver = createReceiver({ sources: [stripe({ secrets: [process.env.STRIPE_SECRET] })], store });
receiver.on("invoice.paid", async ({ id, payload }, { tx }) => {
  const event = payload as Stripe.InvoicePaidEvent; // the whole body; event.data is its `data` field
  await tx.query("insert into payments values ($1, $2)", [id, JSON.stringify(event.data.object)]);
});
export const app = express().all("/webhooks", expressHandler(receiver));
