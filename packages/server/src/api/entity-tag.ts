// If-None-Match: whether the caller already has the current representation (RFC 9110 §13.1.2).
import type { IncomingMessage } from "node:http";

/** `tag` includes its quotes. Weak tags count as equal, because compressing proxies weaken them. */
export function hasTag({ headers }: Pick<IncomingMessage, "headers">, tag: string): boolean {
  const known = String(headers["if-none-match"] ?? "").split(",");
  return known.map((one) => one.trim().replace(/^W\//, "")).some((one) => one === tag || one === "*");
}
