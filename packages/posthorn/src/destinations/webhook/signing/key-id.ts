// What keys are called where somebody has to find them: the thumbprint of the key as a JWK (RFC 7638), which both sides
// can compute and nobody has to keep.
import { createHash } from "node:crypto";

/** Of an ed25519 public key. */
export function keyIdOf(publicKey: Uint8Array): string {
  return thumbprint({ crv: "Ed25519", kty: "OKP", x: Buffer.from(publicKey).toString("base64url") });
}

/** Of a shared secret: 24 random bytes or more, so that its hash tells nothing (RFC 7638 §7). */
export function sharedKeyIdOf(secret: Uint8Array): string {
  return thumbprint({ k: Buffer.from(secret).toString("base64url"), kty: "oct" });
}

/** The required members in the order of their names, and nothing else. */
function thumbprint(jwk: Readonly<Record<string, string>>): string {
  return createHash("sha256").update(JSON.stringify(jwk)).digest("base64url");
}
