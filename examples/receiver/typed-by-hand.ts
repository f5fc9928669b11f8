// Types without a run-time check, for a sender whose data you trust.
import { createReceiver, eventTypes, memoryStore, posthorn } from "@posthorn/receiver";

interface OrderEvents {
  "order.paid": { order: string; total: number };
  "order.refunded": { order: string; reason: string | null };
}

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: memoryStore(),
  events: eventTypes<OrderEvents>(),
});

receiver.on("order.paid", ({ data }) => console.log(data.order, data.total.toFixed(2)));
