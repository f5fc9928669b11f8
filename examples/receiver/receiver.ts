// What the other files serve, each with one framework. In production the store is a database that they share.
import { createReceiver, memoryStore, posthorn } from "@posthorn/receiver";

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET ?? ""] })],
  store: memoryStore(),
  onRejected: ({ status, detail }) => console.warn(status, detail),
  onFailure: ({ error }) => console.error(error),
});

receiver.on("order.paid", async (event) => {
  console.log(`${event.type} ${event.id}`);
});
