// Whether a caller has already what it asks for (RFC 9110 §13.1.2).
import type { IncomingMessage } from "node:http";

/** `tag` in its quotes. A proxy that compresses makes it a weak one, which is the same here. */
export function hasTag({ headers }: Pick<IncomingMessage, "headers">, tag: string): boolean {
  const known = String(headers["if-none-match"] ?? "").split(",");
  return known.some((one) => one.trim().replace(/^W\//, "") === tag);
}
