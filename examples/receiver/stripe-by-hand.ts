// Stripe's SDK: it verifies, everything else is up to you.
import express from "express";
import Stripe from "stripe";

const stripe = new Stripe(process.env.STRIPE_KEY ?? "");
const secret = process.env.STRIPE_SECRET ?? "";
export const app = express();

app.post("/webhooks", express.raw({ type: "application/json" }), (request, response) => {
  try {
    const event = stripe.webhooks.constructEvent(request.body, request.get("stripe-signature") ?? "", secret);
    if (event.type === "invoice.paid") console.log(event.id); // handled before? running elsewhere? failed last time?
    response.json({ received: true });
  } catch (error) {
    response.status(400).send(String(error));
  }
});
