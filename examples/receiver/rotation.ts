// During a rotation both secrets are accepted.
import { createReceiver, memoryStore, posthorn } from "@posthorn/receiver";

const secrets = [process.env.WEBHOOK_SECRET, process.env.WEBHOOK_SECRET_NEXT];

export const receiver = createReceiver({
  sources: [posthorn({ secrets: secrets.filter(Boolean) })],
  store: memoryStore(),
});
receiver.on("order.paid", (event) => console.log(event.id));
