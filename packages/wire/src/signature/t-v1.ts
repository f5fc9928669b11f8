// `X-Webhook-Signature: t=1614265330,v1=<hex>`, which Stripe's SDK verifies under any header name.
import { fields } from "./formats.ts";
import type { Scheme } from "./scheme.ts";

export const tV1: Scheme = {
  name: "t-v1",
  algorithm: "hmac-sha256",
  key: "text",
  encoding: "hex",
  signedParts: ({ timestamp, body }) => [`${timestamp}.`, body],
  headers: { signature: (names) => names.signature },
  format: fields({ timestamp: "t", signature: "v1", separator: "," }),
};
