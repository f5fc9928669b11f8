// Ed25519 keys for node:crypto, from the 32 bytes in a secret.
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

// RFC 8410 §7: an Ed25519 private key in PKCS #8 is this prefix and the 32 bytes of the seed.
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

export function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" });
}

/** Returns true if the public key belongs to the seed, which a hand-written `whsk_` may get wrong. */
export function isKeyPair({
  seed,
  publicKey,
}: {
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
}): boolean {
  const { x } = createPublicKey(privateKeyOf(seed)).export({ format: "jwk" });
  return x === Buffer.from(publicKey).toString("base64url");
}
