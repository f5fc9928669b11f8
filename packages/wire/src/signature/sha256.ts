// `X-Webhook-Signature: sha256=<hex>` over the body alone, as GitHub does. It has no timestamp, so a receiver stops
// a replay only by remembering ids; prefer another scheme where there is a choice.
import { single } from "./formats.ts";
import type { Scheme } from "./scheme.ts";

export const sha256: Scheme = {
  name: "sha256",
  algorithm: "hmac-sha256",
  key: "text",
  encoding: "hex",
  signedParts: ({ body }) => [body],
  headers: { signature: (names) => names.signature, signatureNext: (names) => names.signatureNext },
  format: single("sha256="),
};
