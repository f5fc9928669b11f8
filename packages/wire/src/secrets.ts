// Secrets as text: the prefix identifies the kind, so a public key is never mistaken for a secret.
import { concat, decode, encode } from "./encoding.ts";

const SHARED = "whsec_";
const SIGNING = "whsk_";
const PUBLIC = "whpk_";
const RAW = "whraw_";
const ED25519_KEY_BYTES = 32;

/** How the secret of another sender is written; `whsec` is Posthorn's own format and that of Standard Webhooks. */
export const SECRET_ENCODINGS = ["whsec", "text", "base64", "hex"] as const;
export type SecretEncoding = (typeof SECRET_ENCODINGS)[number];
export const MAX_SECRET_BYTES = 256;

/** A new shared secret: `whsec_` and the padded base64 of 32 random bytes (Go's library requires the padding). */
export function generateSecret(): string {
  return SHARED + encode("base64", crypto.getRandomValues(new Uint8Array(32)));
}

/** A new Ed25519 key pair: `whsk_` contains seed and public key, `whpk_` is for the receiver. */
export async function generateSigningKey(): Promise<{ signingKey: string; publicKey: string }> {
  const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  const publicBytes = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  // RFC 8410 §7: the seed ends the structure.
  const both = concat([pkcs8.subarray(-ED25519_KEY_BYTES), publicBytes]);
  return { signingKey: SIGNING + encode("base64", both), publicKey: PUBLIC + encode("base64", publicBytes) };
}

export type ParsedSecret =
  | { readonly kind: "shared"; readonly key: Uint8Array<ArrayBuffer> }
  | {
      readonly kind: "signing";
      readonly seed: Uint8Array<ArrayBuffer>;
      readonly publicKey: Uint8Array<ArrayBuffer>;
    }
  | { readonly kind: "public"; readonly publicKey: Uint8Array<ArrayBuffer> };

/** Strict: the prefix, padded base64, and 24–64 bytes (`whsec_`), 64 (`whsk_`) or 32 (`whpk_`); otherwise null. */
export function parseSecret(text: string): ParsedSecret | null {
  if (text.startsWith(SHARED)) return parseShared(text.slice(SHARED.length));
  if (text.startsWith(SIGNING)) return parseSigning(text.slice(SIGNING.length));
  if (text.startsWith(PUBLIC)) return parsePublic(text.slice(PUBLIC.length));
  return null;
}

/** True for `whsk_…` and `whpk_…`, valid or not: they must never be used as an HMAC key. */
export function isAsymmetric(text: string): boolean {
  return text.startsWith(SIGNING) || text.startsWith(PUBLIC);
}

// Standard Webhooks 1.0.0, "Signature scheme": 24 to 64 bytes.
function parseShared(base64: string): ParsedSecret | null {
  const key = decode("base64", base64);
  return key === null || key.length < 24 || key.length > 64 ? null : { kind: "shared", key };
}

function parseSigning(base64: string): ParsedSecret | null {
  const both = decode("base64", base64);
  if (both?.length !== 2 * ED25519_KEY_BYTES) return null;
  return {
    kind: "signing",
    seed: both.slice(0, ED25519_KEY_BYTES),
    publicKey: both.slice(ED25519_KEY_BYTES),
  };
}

function parsePublic(base64: string): ParsedSecret | null {
  const publicKey = decode("base64", base64);
  return publicKey?.length === ED25519_KEY_BYTES ? { kind: "public", publicKey } : null;
}

/** The key bytes of another sender's secret; null if it is not written so, is empty or has more than `MAX_SECRET_BYTES`. */
export function importedKey(
  text: string,
  encoding: Exclude<SecretEncoding, "whsec">,
): Uint8Array<ArrayBuffer> | null {
  const key = decodeImported(text, encoding);
  return key === null || key.length === 0 || key.length > MAX_SECRET_BYTES ? null : key;
}

function decodeImported(text: string, encoding: Exclude<SecretEncoding, "whsec">) {
  if (encoding === "hex") return decode("hex", text.toLowerCase());
  if (encoding === "text") return IMPORTED_TEXT.test(text) ? decode("text", text) : null;
  // both alphabets (RFC 4648 §4 and §5), with or without padding, and with the prefix of Standard Webhooks
  const standard = text
    .replace(/^whsec_/, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/={0,2}$/, "");
  return decode("base64", standard.padEnd(Math.ceil(standard.length / 4) * 4, "="));
}

// A space at an end was copied along, and a lone surrogate has no bytes.
const IMPORTED_TEXT = /^(?![\p{Cc}\p{Cs}\p{Z}])[^\p{Cc}\p{Cs}]*(?<![\p{Cc}\p{Cs}\p{Z}])$/u;

/** Writes bytes as a secret that every scheme with a shared key signs with as they are. */
export function rawSecret(key: Uint8Array): string {
  return RAW + encode("base64", key);
}

/** The bytes of a `rawSecret`; null for any other secret. */
export function rawKey(secret: string): Uint8Array<ArrayBuffer> | null {
  return secret.startsWith(RAW) ? decode("base64", secret.slice(RAW.length)) : null;
}
