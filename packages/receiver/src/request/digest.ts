// SHA-256 in lower-case hex.
import { encode, sha256Of } from "@posthorn/wire";

/** A promise only if the runtime has no hash of its own. */
export function digestOf(bytes: Uint8Array<ArrayBuffer>): string | Promise<string> {
  const digest = sha256Of(bytes);
  return digest instanceof Promise ? digest.then((made) => encode("hex", made)) : encode("hex", digest);
}
