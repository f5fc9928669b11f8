// Signs a request as an HTTP message (RFC 9421): method, URL, content type, digest of the body, id and time, once per
// key.
import { createHash } from "node:crypto";
import { messageComponents, type Scheme, type SignedMessage, signingKeyBytes } from "@posthorn/wire";
import { keyIdOf, sharedKeyIdOf } from "./key-id.ts";

/** A signing key, and the id under which the receiver finds its counterpart. */
export interface MessageKey {
  readonly id: string;
  readonly sign: (base: string) => string;
}

/** Writes the digest, the covered components and the signatures. */
export function writeMessageSignatures(
  headers: Record<string, string>,
  { algorithm }: Scheme,
  { id, timestamp, body, method = "", url = "" }: SignedMessage,
  keys: readonly MessageKey[],
): void {
  headers["webhook-id"] = id;
  headers["webhook-timestamp"] = timestamp;
  headers["Content-Digest"] = contentDigest(body);
  const values = [method, url, headers["content-type"] ?? "", headers["Content-Digest"], id, timestamp];
  // a missing field cannot be covered (§2.1), and bytes of unknown type have no content type
  const components = messageComponents
    .map((name, at) => [name, values[at] as string] as const)
    .filter(([name]) => name !== "content-type" || headers[name] !== undefined);
  const inputs: string[] = [];
  const signatures: string[] = [];
  for (const [at, key] of keys.entries()) {
    const params = signatureParams(components, { created: timestamp, keyid: key.id, alg: algorithm });
    inputs.push(`sig${at + 1}=${params}`);
    signatures.push(`sig${at + 1}=:${key.sign(signatureBase(components, params))}:`);
  }
  headers["Signature-Input"] = inputs.join(", ");
  headers.Signature = signatures.join(", ");
}

export type Component = readonly [name: string, value: string];

/** RFC 9421 §2.3. Key ids and algorithms contain no character that needs escaping. */
export function signatureParams(
  components: readonly Component[],
  { created, keyid, alg }: { readonly created: string; readonly keyid: string; readonly alg?: string },
): string {
  const names = components.map(([name]) => `"${name}"`).join(" ");
  return `(${names});created=${created};keyid="${keyid}"${alg === undefined ? "" : `;alg="${alg}"`}`;
}

/** RFC 9421 §2.5. */
export function signatureBase(components: readonly Component[], params: string): string {
  const lines = components.map(([name, value]) => `"${name}": ${value}\n`).join("");
  return `${lines}"@signature-params": ${params}`;
}

/** RFC 9530 §2. */
export function contentDigest(body: Uint8Array): string {
  return `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
}

/** Returns the id under which a receiver finds the key of this secret; null if the scheme cannot sign with it. */
export function messageKeyId({ key }: Scheme, secret: string): string | null {
  const bytes = signingKeyBytes(key, secret);
  if (bytes === null) return null;
  if (key !== "ed25519") return sharedKeyIdOf(bytes);
  // a whsk_ contains the seed and then the public key
  return keyIdOf(Buffer.from(secret.slice("whsk_".length), "base64").subarray(32));
}
