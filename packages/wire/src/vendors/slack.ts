// Slack: `X-Slack-Signature: v0=<hex>` over `v0:<seconds>:<body>`. Events have a signed id in the body; slash commands
// and interactions are forms without one, but each has its own `trigger_id`, so the body's digest is unique.
import { single } from "../signature/formats.ts";
import { tV1 } from "../signature/t-v1.ts";
import type { Vendor } from "./vendor.ts";

export const slack: Vendor = {
  scheme: {
    ...tV1,
    name: "slack",
    signedParts: ({ timestamp, body }) => [`v0:${timestamp}:`, body],
    headers: { signature: () => "X-Slack-Signature", timestamp: () => "X-Slack-Request-Timestamp" },
    format: single("v0="),
  },
  id: [{ body: ["event_id"] }, { digest: "body" }],
  type: [{ body: ["event", "type"] }, { body: ["type"] }, { body: ["command"] }, { fixed: "interaction" }],
  time: [{ at: { body: ["event_time"] }, format: "seconds" }],
  data: [["event"]],
  hasStableBody: false,
  challenges: [
    {
      when: [{ at: { body: ["type"] }, is: "url_verification" }],
      status: 200,
      answer: { echo: ["challenge"] },
    },
  ],
};
