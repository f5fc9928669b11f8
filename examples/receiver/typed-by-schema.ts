// Data is validated by zod or any other Standard Schema before the handler runs.
import { createReceiver, memoryStore, posthorn } from "@posthorn/receiver";
import { z } from "zod";

export const receiver = createReceiver({
  sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
  store: memoryStore(),
  events: {
    "order.paid": z.object({ order: z.string(), total: z.number() }),
    "order.refunded": z.object({ order: z.string(), reason: z.string().nullable() }),
  },
});

receiver.on("order.paid", ({ data }) => console.log(data.order, data.total.toFixed(2)));
receiver.on("order.*", (event) => {
  if (event.type === "order.refunded") console.log(event.data.order, event.data.reason ?? "no reason");
});
