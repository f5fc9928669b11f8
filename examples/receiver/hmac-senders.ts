// Three senders without a preset.
import { createReceiver, hmac, memoryStore } from "@posthorn/receiver";

export const receiver = createReceiver({
  sources: [
    // X-Shop-Signature: t=1767225600,v1=<hex> over `1767225600.<body>`; {"id": …, "type": …, "data": …}
    hmac({
      name: "shop",
      secrets: [process.env.SHOP_SECRET],
      header: "X-Shop-Signature",
      format: "t={timestamp},v1={signature}",
      id: { pointer: "/id" },
      type: { pointer: "/type" },
      data: { pointer: "/data" },
    }),
    // X-Mail-Timestamp and X-Mail-Signature: <base64>; the secret is shown in base64, too
    hmac({
      name: "mail",
      secrets: [process.env.MAIL_SECRET],
      secretEncoding: "base64",
      header: "X-Mail-Signature",
      timestampHeader: "X-Mail-Timestamp",
      encoding: "base64",
      id: { pointer: "/event/id" },
      type: { pointer: "/event/kind" },
    }),
    // X-Jobs-Signature: sha256=<hex> over the body, which has neither id nor type
    hmac({
      name: "jobs",
      secrets: [process.env.JOBS_SECRET],
      header: "X-Jobs-Signature",
      format: "sha256={signature}",
      id: { header: "X-Jobs-Delivery-Id" },
      type: { header: "X-Jobs-Event" },
    }),
  ],
  store: memoryStore(),
});

receiver.fallback((event) => console.log(`${event.source} ${event.id} ${event.type}`));
