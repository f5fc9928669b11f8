// Shopify: `X-Shopify-Hmac-Sha256: <base64>` over the body alone. Id, topic and time are in unsigned headers:
// a captured request can be replayed under another id at any time.

import { sha256 } from "../signature/body-hmac.ts";
import { single } from "../signature/formats.ts";
import type { Vendor } from "./vendor.ts";

export const shopify: Vendor = {
  scheme: {
    ...sha256,
    name: "shopify",
    encoding: "base64",
    headers: { signature: () => "X-Shopify-Hmac-Sha256" },
    format: single(""),
    companions: {
      "X-Shopify-Topic": "topic",
      "X-Shopify-Webhook-Id": "uuid",
      "X-Shopify-Triggered-At": "event_time",
    },
  },
  id: [{ header: "X-Shopify-Webhook-Id" }],
  type: [{ header: "X-Shopify-Topic" }],
  time: [{ at: { header: "X-Shopify-Triggered-At" }, format: "rfc3339" }],
  data: [],
  hasStableBody: true,
};
