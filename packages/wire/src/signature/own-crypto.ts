// Node's synchronous hashes, which Bun and Deno have too. WebCrypto uses a thread pool for each operation, which took a
// third of the cost of receiving a request of 1 KB (Node 20.20). Looked up at run time, so that browsers and workers do
// without.

import { encode } from "../encoding.ts";

type Bytes = Uint8Array<ArrayBuffer>;

interface Hash {
  update(part: Uint8Array | string): Hash;
  digest(): Uint8Array;
  digest(encoding: "hex"): string;
}

interface OwnCrypto {
  /** From Node 20.12. Without an object for the collector it takes a quarter of the time. */
  hash?(algorithm: "sha256", bytes: Uint8Array): string;
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

/** In lower-case hex. A promise only if the runtime has none. */
export function sha256HexOf(bytes: Bytes): string | Promise<string> {
  if (own?.hash !== undefined) return own.hash("sha256", bytes);
  if (own !== null) return own.createHash("sha256").update(bytes).digest("hex");
  return crypto.subtle.digest("SHA-256", bytes).then((digest) => encode("hex", new Uint8Array(digest)));
}
