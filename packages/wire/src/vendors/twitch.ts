// Twitch EventSub: `Twitch-Eventsub-Message-Signature: sha256=<hex>` over id, time and body.
import { sha256 } from "../signature/body-hmac.ts";
import type { Vendor } from "./vendor.ts";

export const twitch: Vendor = {
  scheme: {
    ...sha256,
    name: "twitch",
    signedParts: ({ id, timestamp, body }) => [id + timestamp, body],
    headers: {
      signature: () => "Twitch-Eventsub-Message-Signature",
      id: () => "Twitch-Eventsub-Message-Id",
      timestamp: () => "Twitch-Eventsub-Message-Timestamp",
    },
    timeFormat: "rfc3339",
    companions: {
      "Twitch-Eventsub-Message-Type": { fixed: "notification" },
      "Twitch-Eventsub-Message-Retry": "retry",
      "Twitch-Eventsub-Subscription-Type": "type",
    },
  },
  id: [{ header: "Twitch-Eventsub-Message-Id" }],
  type: [{ body: ["subscription", "type"] }],
  time: [{ at: { header: "Twitch-Eventsub-Message-Timestamp" }, format: "rfc3339" }],
  data: [["event"]],
  hasStableBody: true,
  // Only a verification request has `challenge`; the message type header is not signed.
  challenges: [{ when: [], status: 200, answer: { echo: ["challenge"] } }],
};
