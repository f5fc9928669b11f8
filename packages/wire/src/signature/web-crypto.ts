// The two algorithms on WebCrypto, which browsers, workers and every server runtime have.
import type { Scheme, SignedPart } from "./scheme.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const HMAC = { name: "HMAC", hash: "SHA-256" };
const encoder = new TextEncoder();
// RFC 8410 §7: an ed25519 private key in PKCS #8 is this and the 32 bytes of the seed.
const PKCS8_HEAD = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

export async function signBytes(scheme: Scheme, key: Bytes, content: Bytes): Promise<Bytes> {
  if (scheme.algorithm === "hmac-sha256") return hmac(key, content);
  const pkcs8 = new Uint8Array([...PKCS8_HEAD, ...key]);
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, content));
}

/** True when one of the signatures is that of the content under the key. */
export async function matchesAny(
  scheme: Scheme,
  key: Bytes,
  content: Bytes,
  signatures: readonly Bytes[],
): Promise<boolean> {
  let matched = false;
  if (scheme.algorithm === "hmac-sha256") {
    const expected = await hmac(key, content);
    for (const signature of signatures) matched = equalInConstantTime(expected, signature) || matched;
    return matched;
  }
  const publicKey = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  for (const signature of signatures) {
    matched = (await crypto.subtle.verify("Ed25519", publicKey, signature, content)) || matched;
  }
  return matched;
}

export function joinParts(parts: readonly SignedPart[]): Bytes {
  const pieces = parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

async function hmac(key: Bytes, content: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey("raw", key, HMAC, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, content));
}

/** The time taken does not tell how many leading bytes were right. */
function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let at = 0; at < a.length; at++) difference |= (a[at] as number) ^ (b[at] as number);
  return difference === 0;
}
