// Discord: `X-Signature-Ed25519: <hex>` over time and body; the secret is the application's public key in hex.
// Interactions have a signed id in the body; webhook events have none, so their id is the body's digest.
import { single } from "../signature/formats.ts";
import type { Vendor } from "./vendor.ts";

const PING = "0";
const INTERACTION_PING = "1";

export const discord: Vendor = {
  scheme: {
    name: "discord",
    algorithm: "ed25519",
    key: "ed25519",
    encoding: "hex",
    signedParts: ({ timestamp, body }) => [timestamp, body],
    headers: { signature: () => "X-Signature-Ed25519", timestamp: () => "X-Signature-Timestamp" },
    format: single(""),
  },
  id: [{ body: ["id"] }, { digest: "body" }],
  type: [{ body: ["event", "type"] }, { body: ["type"] }],
  time: [{ at: { body: ["event", "timestamp"] }, format: "rfc3339" }],
  data: [["event", "data"], ["data"]],
  hasStableBody: false,
  challenges: [
    { when: [{ at: { body: ["type"] }, is: PING }], status: 204, answer: null },
    // A webhook event has type 1 and an `event` member.
    {
      when: [
        { at: { body: ["type"] }, is: INTERACTION_PING },
        { at: { body: ["event", "type"] }, is: null },
      ],
      status: 200,
      answer: { json: '{"type":1}' },
    },
  ],
};
