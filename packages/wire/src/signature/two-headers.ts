// `X-Webhook-Timestamp: 1614265330` and `X-Webhook-Signature: <hex>`, for receivers that read them apart.
import { single } from "./formats.ts";
import type { Scheme } from "./scheme.ts";

export const twoHeaders: Scheme = {
  name: "two-headers",
  algorithm: "hmac-sha256",
  key: "text",
  encoding: "hex",
  signedParts: ({ timestamp, body }) => [`${timestamp}.`, body],
  headers: {
    signature: (names) => names.signature,
    signatureNext: (names) => names.signatureNext,
    timestamp: (names) => names.timestamp,
  },
  format: single(""),
};
