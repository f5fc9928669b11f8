// Linear: `Linear-Signature: <hex>` over the body, which contains the time in milliseconds. The delivery id is in an
// unsigned header: within the tolerance, a captured request can be replayed under another id.

import { sha256 } from "../signature/body-hmac.ts";
import { single } from "../signature/formats.ts";
import type { Vendor } from "./vendor.ts";

export const linear: Vendor = {
  scheme: {
    ...sha256,
    name: "linear",
    headers: { signature: () => "Linear-Signature" },
    timeFormat: "milliseconds",
    timeInBody: ["webhookTimestamp"],
    format: single(""),
    companions: { "Linear-Delivery": "uuid", "Linear-Event": "type" },
  },
  id: [{ header: "Linear-Delivery" }],
  type: [{ body: ["type"] }],
  time: [
    { at: { body: ["createdAt"] }, format: "rfc3339" },
    { at: { body: ["webhookTimestamp"] }, format: "milliseconds" },
  ],
  data: [["data"]],
  // `webhookTimestamp` differs between attempts.
  hasStableBody: false,
};
