// Standard Webhooks 1.0.0 with a shared secret: what every library of that standard verifies.
import { versionedList } from "./formats.ts";
import type { Scheme } from "./scheme.ts";

export const standardWebhooks: Scheme = {
  name: "standard-webhooks",
  algorithm: "hmac-sha256",
  key: "base64",
  encoding: "base64",
  signedParts: ({ id, timestamp, body }) => [`${id}.${timestamp}.`, body],
  headers: {
    signature: () => "webhook-signature",
    id: () => "webhook-id",
    timestamp: () => "webhook-timestamp",
  },
  format: versionedList("v1"),
  // A receiver that looks at the first item only finds the version every library knows.
  shares: "first",
};
