// Ed25519 keys as node:crypto wants them, made of the 32 bytes that secrets hold.
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

// RFC 8410 §7: an ed25519 private key in PKCS #8 is this and the 32 bytes of the seed.
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

export function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" });
}

/** Does the public key belong to the seed? Whoever writes a `whsk_` by hand may have put together two that do not. */
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
