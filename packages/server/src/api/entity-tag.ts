// Public responses that caches may keep, and If-None-Match: whether the caller already has the current representation
// (RFC 9110 §13.1.2).
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Reply } from "./reply.ts";

/** `tag` includes its quotes. Weak tags count as equal, because compressing proxies weaken them. */
export function hasTag({ headers }: Pick<IncomingMessage, "headers">, tag: string): boolean {
  const known = String(headers["if-none-match"] ?? "").split(",");
  return known.map((one) => one.trim().replace(/^W\//, "")).some((one) => one === tag || one === "*");
}

/** Replies with the body, or with 304 if the caller has it. */
export function cacheable(
  request: IncomingMessage,
  contentType: string,
  body: string,
  seconds: number,
): Reply {
  const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  const always = { cacheControl: `public, max-age=${seconds}`, headers: ["ETag", tag] };
  return hasTag(request, tag) ? { status: 304, ...always } : { status: 200, contentType, body, ...always };
}
