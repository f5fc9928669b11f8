// Square: `x-square-hmacsha256-signature: <base64>` over URL and body. The id is in the body, so it is signed; no
// time is signed, so only remembered ids prevent a replay.
import { single } from "../signature/formats.ts";
import type { Vendor } from "./vendor.ts";

export const square: Vendor = {
  scheme: {
    name: "square",
    algorithm: "hmac-sha256",
    key: "text",
    encoding: "base64",
    signedParts: ({ url = "", body }) => [url, body],
    headers: { signature: () => "x-square-hmacsha256-signature" },
    signedUrls: (url) => [url],
    format: single(""),
  },
  id: [{ body: ["event_id"] }],
  type: [{ body: ["type"] }],
  time: [{ at: { body: ["created_at"] }, format: "rfc3339" }],
  data: [["data"]],
  hasStableBody: false,
};
