// Paddle: `Paddle-Signature: ts=<seconds>;h1=<hex>` over `<seconds>:<body>`. The id is in the body, so it is signed.
import { fields } from "../signature/formats.ts";
import { tV1 } from "../signature/t-v1.ts";
import type { Vendor } from "./vendor.ts";

export const paddle: Vendor = {
  scheme: {
    ...tV1,
    name: "paddle",
    signedParts: ({ timestamp, body }) => [`${timestamp}:`, body],
    headers: { signature: () => "Paddle-Signature" },
    format: fields({ timestamp: "ts", signature: "h1", separator: ";" }),
  },
  id: [{ body: ["event_id"] }],
  type: [{ body: ["event_type"] }],
  time: [{ at: { body: ["occurred_at"] }, format: "rfc3339" }],
  data: [["data"]],
  // `notification_id` differs in a replay.
  hasStableBody: false,
};
