// Whether a caller has already what it asks for (RFC 9110 §13.1.2).
import type { IncomingMessage } from "node:http";

/** `tag` in its quotes. A proxy that compresses makes it a weak one, which is the same here; `*` is whatever there is. */
export function hasTag({ headers }: Pick<IncomingMessage, "headers">, tag: string): boolean {
  const known = String(headers["if-none-match"] ?? "").split(",");
  return known.map((one) => one.trim().replace(/^W\//, "")).some((one) => one === tag || one === "*");
}
