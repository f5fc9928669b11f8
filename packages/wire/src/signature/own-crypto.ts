// Node's synchronous hashes, which Bun and Deno have too. WebCrypto uses a thread pool for each operation, which took a
// third of the cost of receiving a request of 1 KB (Node 20.20). Looked up at run time, so that browsers and workers do
// without.

type Bytes = Uint8Array<ArrayBuffer>;

interface Hash {
  update(bytes: Uint8Array): Hash;
  digest(): Uint8Array;
}

interface OwnCrypto {
  createHash(algorithm: "sha256"): Hash;
  createHmac(algorithm: "sha256" | "sha1", key: Uint8Array): Hash;
}

interface Runtime {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

const own = ((globalThis as Runtime).process?.getBuiltinModule?.("node:crypto") ?? null) as OwnCrypto | null;

/** Null if the runtime has none. */
export const ownHmac =
  own &&
  ((algorithm: "sha256" | "sha1", key: Bytes, content: Bytes): Bytes =>
    new Uint8Array(own.createHmac(algorithm, key).update(content).digest()));

export async function sha256Of(bytes: Bytes): Promise<Bytes> {
  if (own !== null) return new Uint8Array(own.createHash("sha256").update(bytes).digest());
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
