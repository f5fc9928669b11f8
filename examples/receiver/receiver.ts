// The receiver that the framework examples serve. In production use a database store, shared by all processes.
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
