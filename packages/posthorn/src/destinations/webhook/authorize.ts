// The token by which a receiver knows its sender (RFC 6750), as "HTTP 1.1 Web Hooks for Event Delivery" §3 has it: in the
// Authorization header or in the query, and never in both.
import type { TargetAuthorization } from "../../model.ts";

/** Added as text: `searchParams` would spell the rest of the query anew. */
export function authorizedUrl(url: string, { type, token }: TargetAuthorization): string {
  if (type === "bearer") return url;
  return `${url}${url.includes("?") ? "&" : "?"}access_token=${encodeURIComponent(token)}`;
}

/** RFC 6750 §2.3: what is asked for with a token in its query is for no cache. */
export function authorizationHeader({ type, token }: TargetAuthorization): readonly [string, string] {
  return type === "bearer" ? ["Authorization", `Bearer ${token}`] : ["Cache-Control", "no-store"];
}

/** In lower case. */
export const AUTHORIZATION_HEADER = { bearer: "authorization", query: "cache-control" } as const;

const QUERY_TOKEN = /([?&]access_token=)[^&#]*/g;

/** What may be shown of such a URL. */
export function withoutToken(url: string, mask: string): string {
  return url.replace(QUERY_TOKEN, `$1${mask}`);
}

export function hasQueryToken(url: string): boolean {
  return url.search(QUERY_TOKEN) !== -1;
}
