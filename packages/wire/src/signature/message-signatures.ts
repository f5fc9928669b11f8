// HTTP Message Signatures (RFC 9421) with a digest of the body (RFC 9530): the only schemes that cover method and URL in a
// standard way. Each signature names its key, so the signed text differs by secret: the signer builds the signature base
// from `messageComponents`.
import { single } from "./formats.ts";
import type { Scheme } from "./scheme.ts";

/** The covered components, in this order; other headers in `headers` and `writes` are not signed. */
export const messageComponents = [
  "@method",
  "@target-uri",
  "content-type",
  "content-digest",
  "webhook-id",
  "webhook-timestamp",
] as const;

const common = {
  encoding: "base64",
  signedParts: () => {
    throw new Error("What a message signature covers is made for each key; see messageComponents.");
  },
  headers: {
    signature: () => "Signature",
    id: () => "webhook-id",
    timestamp: () => "webhook-timestamp",
  },
  writes: ["Signature-Input", "Content-Digest"],
  format: single(""),
  isMessageSignature: true,
} as const;

export const rfc9421: Scheme = { ...common, name: "rfc9421", algorithm: "hmac-sha256", key: "base64" };
export const rfc9421Ed25519: Scheme = {
  ...common,
  name: "rfc9421-ed25519",
  algorithm: "ed25519",
  key: "ed25519",
};
