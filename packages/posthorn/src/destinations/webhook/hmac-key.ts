// HMAC (RFC 2104) as two one-shot hashes. A signature of 1 KB takes 1.7 µs, and 2.5 µs with createHmac, whose native
// objects the garbage collector has to finalize as well.
import { createHash, hash } from "node:crypto";
import type { SignedPart } from "@posthorn/wire";

export type HmacHash = "sha256" | "sha1";

/** The block size of both hashes. */
const BLOCK_BYTES = 64;
/** Shared by all keys: a signature is complete before the next begins. */
const innerInput = Buffer.allocUnsafeSlow(64 * 1024);
const outerInputs = {
  sha256: Buffer.allocUnsafeSlow(BLOCK_BYTES + 32),
  sha1: Buffer.allocUnsafeSlow(BLOCK_BYTES + 20),
};

/** A key with its two padded blocks. */
export class HmacKey {
  readonly #hash: HmacHash;
  readonly #inner: Uint8Array;
  readonly #outer: Uint8Array;

  constructor(name: HmacHash, key: Uint8Array) {
    const block = Buffer.alloc(BLOCK_BYTES);
    block.set(key.length > BLOCK_BYTES ? hash(name, key, "buffer") : key);
    this.#hash = name;
    this.#inner = block.map((byte) => byte ^ 0x36);
    this.#outer = block.map((byte) => byte ^ 0x5c);
  }

  sign(parts: readonly SignedPart[], encoding: "hex" | "base64"): string {
    const input = outerInputs[this.#hash];
    const digest = this.#innerDigest(parts);
    input.set(this.#outer);
    input.write(digest, BLOCK_BYTES, "binary");
    return hash(this.#hash, input, encoding);
  }

  /** As a binary string, which is faster than a buffer. */
  #innerDigest(parts: readonly SignedPart[]): string {
    innerInput.set(this.#inner);
    let length = BLOCK_BYTES;
    for (const part of parts) {
      // a UTF-16 code unit takes at most three bytes of UTF-8
      const maxBytes = typeof part === "string" ? 3 * part.length : part.length;
      if (length + maxBytes > innerInput.length) return this.#innerDigestOfLarge(parts);
      if (typeof part === "string") length += innerInput.write(part, length);
      else {
        innerInput.set(part, length);
        length += part.length;
      }
    }
    return hash(this.#hash, innerInput.subarray(0, length), "binary");
  }

  /** For parts that do not fit in the shared buffer. */
  #innerDigestOfLarge(parts: readonly SignedPart[]): string {
    const digest = createHash(this.#hash).update(this.#inner);
    for (const part of parts) digest.update(part);
    return digest.digest("binary");
  }
}
