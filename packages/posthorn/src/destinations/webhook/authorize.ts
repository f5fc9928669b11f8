// The token that authenticates the sender (RFC 6750), according to "HTTP 1.1 Web Hooks for Event Delivery" §3: in the
// Authorization header or in the query, never in both.
import type { TargetAuthorization } from "../../model.ts";

/** Appended as text: `searchParams` would re-encode the rest of the query. */
export function authorizedUrl(url: string, { type, token }: TargetAuthorization): string {
  if (type === "bearer") return url;
  return `${url}${url.includes("?") ? "&" : "?"}access_token=${encodeURIComponent(token)}`;
}

/** RFC 6750 §2.3: a request with a token in its query must not be cached. */
export function authorizationHeader({ type, token }: TargetAuthorization): readonly [string, string] {
  return type === "bearer" ? ["Authorization", `Bearer ${token}`] : ["Cache-Control", "no-store"];
}

/** Lower-case names. */
export const AUTHORIZATION_HEADER = { bearer: "authorization", query: "cache-control" } as const;

const QUERY_TOKEN = /([?&]access_token=)[^&#]*/g;

export function withoutToken(url: string, mask: string): string {
  return url.replace(QUERY_TOKEN, `$1${mask}`);
}

export function hasQueryToken(url: string): boolean {
  return url.search(QUERY_TOKEN) !== -1;
}
