// Node's synchronous hashes, which Bun and Deno have too. WebCrypto uses a thread pool for each operation, which took a
// third of the cost of receiving a request of 1 KB (Node 20.20). Looked up at run time, so that browsers and workers do
// without.

type Bytes = Uint8Array<ArrayBuffer>;

interface Hash {
  update(part: Uint8Array | string): Hash;
  digest(): Uint8Array;
}

interface OwnCrypto {
  /** From Node 20.12. Without an object for the collector it takes a quarter of the time. */
  hash?(algorithm: "sha256", bytes: Uint8Array, encoding: "buffer"): Uint8Array;
  createHash(algorithm: "sha256"): Hash;
  createHmac(algorithm: "sha256" | "sha512" | "sha1", key: Uint8Array): Hash;
}

interface Runtime {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

const own = ((globalThis as Runtime).process?.getBuiltinModule?.("node:crypto") ?? null) as OwnCrypto | null;

/** Null if the runtime has none. */
export const ownHmac =
  own &&
  ((
    algorithm: "sha256" | "sha512" | "sha1",
    key: Bytes,
    content: readonly (Uint8Array | string)[],
  ): Bytes => {
    const hmac = own.createHmac(algorithm, key);
    for (const part of content) hmac.update(part);
    return new Uint8Array(hmac.digest());
  });

/** A promise only if the runtime has none. */
export function sha256Of(bytes: Bytes): Bytes | Promise<Bytes> {
  if (own?.hash !== undefined) return new Uint8Array(own.hash("sha256", bytes, "buffer"));
  if (own !== null) return new Uint8Array(own.createHash("sha256").update(bytes).digest());
  return crypto.subtle.digest("SHA-256", bytes).then((digest) => new Uint8Array(digest));
}
