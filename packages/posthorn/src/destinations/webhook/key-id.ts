// Key ids: the thumbprint of the key as a JWK (RFC 7638), which both sides can compute.
import { createHash } from "node:crypto";

export function keyIdOf(publicKey: Uint8Array): string {
  return thumbprint({ crv: "Ed25519", kty: "OKP", x: Buffer.from(publicKey).toString("base64url") });
}

/** The id of a shared secret. Its hash reveals no more of it than a signature of the request does (RFC 7638 §7). */
export function sharedKeyIdOf(secret: Uint8Array): string {
  return thumbprint({ k: Buffer.from(secret).toString("base64url"), kty: "oct" });
}

/** Hashes the required members in alphabetical order, and nothing else. */
function thumbprint(jwk: Readonly<Record<string, string>>): string {
  return createHash("sha256").update(JSON.stringify(jwk)).digest("base64url");
}
