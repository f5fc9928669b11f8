// Zoom: `x-zm-signature: v0=<hex>` over `v0:<seconds>:<body>`. There is no id, but the body contains a time in
// milliseconds and is the same for every attempt, so its digest is unique.
import { single } from "../signature/formats.ts";
import { slack } from "./slack.ts";
import type { Vendor } from "./vendor.ts";

export const zoom: Vendor = {
  scheme: {
    ...slack.scheme,
    name: "zoom",
    headers: { signature: () => "x-zm-signature", timestamp: () => "x-zm-request-timestamp" },
    format: single("v0="),
  },
  id: [{ digest: "body" }],
  type: [{ body: ["event"] }],
  time: [{ at: { body: ["event_ts"] }, format: "milliseconds" }],
  data: [["payload"]],
  hasStableBody: true,
  challenges: [
    {
      when: [{ at: { body: ["event"] }, is: "endpoint.url_validation" }],
      status: 200,
      answer: { signed: ["payload", "plainToken"], text: "plainToken", signature: "encryptedToken" },
    },
  ],
};
