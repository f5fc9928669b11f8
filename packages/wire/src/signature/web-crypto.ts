// The algorithms on Web Crypto, which every runtime has; HMACs use the runtime's native crypto if available, which is faster.
import { BoundedMap } from "../bounded-map.ts";
import { concat } from "../encoding.ts";
import { type Secret, signingKeyBytes, verifyingKeyBytes } from "./keys.ts";
import { ownHmac } from "./own-crypto.ts";
import type { Scheme, SignedMessage, SignedPart } from "./scheme.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Derived, because `CryptoKey` is missing from Node's types without the DOM library. */
type WebKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;
/** Bytes for an HMAC with the runtime's native crypto. */
export type Key = WebKey | Bytes;

const HMAC = {
  "hmac-sha256": { name: "HMAC", hash: "SHA-256", own: "sha256" },
  "hmac-sha512": { name: "HMAC", hash: "SHA-512", own: "sha512" },
  "hmac-sha1": { name: "HMAC", hash: "SHA-1", own: "sha1" },
} as const;
// RFC 8410 §7: an ed25519 private key in PKCS #8 is this prefix and the 32-byte seed.
const PKCS8_HEAD = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

export async function signBytes(scheme: Scheme, key: Key, parts: readonly SignedPart[]): Promise<Bytes> {
  const own = ownSignature(scheme, key, parts);
  if (own !== null) return own;
  const name = scheme.algorithm === "ed25519" ? "Ed25519" : "HMAC";
  return new Uint8Array(await crypto.subtle.sign(name, key as WebKey, joinParts(parts)));
}

/** Null if only Web Crypto can compute it. Not a promise, because each one costs a tenth of the HMAC. */
function ownSignature({ algorithm }: Scheme, key: Key, parts: readonly SignedPart[]): Bytes | null {
  if (algorithm === "token") return key as Bytes;
  if (algorithm === "ed25519" || ownHmac === null) return null;
  return key instanceof Uint8Array ? ownHmac(HMAC[algorithm].own, key, parts) : null;
}

/** True if one of the signatures is valid for the content and the key. A promise only if Web Crypto computes it. */
export function matchesAny(
  scheme: Scheme,
  key: Key,
  parts: readonly SignedPart[],
  signatures: readonly Bytes[],
): boolean | Promise<boolean> {
  if (scheme.algorithm === "ed25519") return anyVerifies(key as WebKey, joinParts(parts), signatures);
  const expected = ownSignature(scheme, key, parts);
  if (expected !== null) return includes(signatures, expected);
  return signBytes(scheme, key, parts).then((computed) => includes(signatures, computed));
}

async function anyVerifies(key: WebKey, content: Bytes, signatures: readonly Bytes[]): Promise<boolean> {
  let matched = false;
  for (const signature of signatures) {
    matched = (await crypto.subtle.verify("Ed25519", key, signature, content)) || matched;
  }
  return matched;
}

function includes(signatures: readonly Bytes[], expected: Bytes): boolean {
  let matched = false;
  for (const signature of signatures) matched = equalInConstantTime(expected, signature) || matched;
  return matched;
}

/** The signed content, once for each form in which the sender may have written the URL. */
export function signedContents(scheme: Scheme, message: SignedMessage): Bytes[] {
  return signedPartsOf(scheme, message).map(joinParts);
}

/** The same in parts, so that the body is not copied. */
export function signedPartsOf(scheme: Scheme, message: SignedMessage): (readonly SignedPart[])[] {
  if (scheme.signedUrls === undefined) return [scheme.signedParts(message)];
  if (message.url === undefined || message.method === undefined) {
    throw new TypeError(`The scheme "${scheme.name}" signs the URL: pass method and url.`);
  }
  return scheme.signedUrls(message.url).map((url) => scheme.signedParts({ ...message, url }));
}

function joinParts(parts: readonly SignedPart[]): Bytes {
  const [only] = parts;
  return parts.length === 1 && typeof only === "object" ? (only as Bytes) : concat(parts);
}

// Importing a key costs three times the HMAC of 1 KB. Secrets come from settings, not from requests, so a
// receiver has few; the bound is for a process that serves many.
const MAX_KEYS_OF_A_KIND = 1_000;
const imported = new Map<string, BoundedMap<Secret, Key | null>>();

/** Null if this scheme cannot use the secret. A promise only at the first use. */
export function keyFor(
  scheme: Scheme,
  secret: Secret,
  use: "sign" | "verify",
): Key | null | Promise<Key | null> {
  const kind = `${scheme.algorithm} ${scheme.key} ${use}`;
  let keys = imported.get(kind);
  if (keys === undefined) {
    keys = new BoundedMap(MAX_KEYS_OF_A_KIND);
    imported.set(kind, keys);
  }
  const known = keys.get(secret);
  return known === undefined ? importInto(keys, scheme, secret, use) : known;
}

async function importInto(
  keys: BoundedMap<Secret, Key | null>,
  scheme: Scheme,
  secret: Secret,
  use: "sign" | "verify",
): Promise<Key | null> {
  const key = await importKey(scheme, secret, use);
  keys.set(secret, key);
  return key;
}

async function importKey(scheme: Scheme, secret: Secret, use: "sign" | "verify"): Promise<Key | null> {
  const bytes = (use === "sign" ? signingKeyBytes : verifyingKeyBytes)(scheme.key, secret);
  if (bytes === null || scheme.algorithm === "token") return bytes;
  if (scheme.algorithm !== "ed25519") {
    if (ownHmac !== null) return bytes;
    return crypto.subtle.importKey("raw", bytes, HMAC[scheme.algorithm], false, ["sign"]);
  }
  if (use === "verify") return crypto.subtle.importKey("raw", bytes, "Ed25519", false, ["verify"]);
  const pkcs8 = new Uint8Array([...PKCS8_HEAD, ...bytes]);
  return crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
}

/** Takes the same time wherever the first difference is. */
export function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let at = 0; at < a.length; at++) difference |= (a[at] as number) ^ (b[at] as number);
  return difference === 0;
}
