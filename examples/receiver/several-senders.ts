// One route for several senders, recognised by their signature headers.
import { createReceiver, github, memoryStore, posthorn, stripe } from "@posthorn/receiver";

export const receiver = createReceiver({
  sources: [
    posthorn({ secrets: [process.env.WEBHOOK_SECRET] }),
    stripe({ secrets: [process.env.STRIPE_SECRET] }),
    stripe({ secrets: [process.env.STRIPE_CONNECT_SECRET], name: "stripe-connect" }), // a second account
    github({ secrets: [process.env.GITHUB_SECRET], id: "digest" }), // GitHub's id is not signed
  ],
  store: memoryStore(),
});

receiver.on("invoice.paid", (event) => console.log(`Stripe ${event.id}`), { source: "stripe" }); // ignores other senders
receiver.on("push", (event) => console.log(`GitHub ${event.id}`), { source: "github" });
receiver.fallback((event) => console.log(`${event.source} ${event.type} has no handler`));
