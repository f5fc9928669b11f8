// Response bodies of your own. The HTTP statuses stay.
import { createReceiver, memoryStore, posthorn } from "@posthorn/receiver";

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: memoryStore(),
  responseBodies: { done: { status: "ok" }, accepted: { status: "ok" } },
});
receiver.fallback((event) => console.log(event.id));
