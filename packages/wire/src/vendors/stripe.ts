// Stripe: `Stripe-Signature: t=<seconds>,v1=<hex>` over time and body. The id is in the body, so it is signed.
import { tV1 } from "../signature/t-v1.ts";
import type { Vendor } from "./vendor.ts";

export const stripe: Vendor = {
  scheme: { ...tV1, name: "stripe", headers: { signature: () => "Stripe-Signature" } },
  id: [{ body: ["id"] }],
  type: [{ body: ["type"] }],
  // In thin events `created` is RFC 3339.
  time: [
    { at: { body: ["created"] }, format: "seconds" },
    { at: { body: ["created"] }, format: "rfc3339" },
  ],
  data: [["data"]],
  // `pending_webhooks` differs between attempts.
  hasStableBody: false,
};
