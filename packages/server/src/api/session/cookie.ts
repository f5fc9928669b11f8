// The cookie that a session is in: out of reach for scripts, and for other sites, hosts and paths.
import type { IncomingMessage } from "node:http";
import type { Site } from "./site.ts";

/** Each has a cookie of its own: an operator who opens a customer's portal stays signed in. */
export type Page = "dashboard" | "portal";

/** The header that pages of ours send, and that no form or link of another site can. */
export const PAGE_HEADER = "posthorn-dashboard";

export function pageOf({ headers }: IncomingMessage): Page | null {
  const given = headers[PAGE_HEADER];
  if (given === "1") return "dashboard";
  return given === "portal" ? "portal" : null;
}

/** Prefixed where the browser then holds it to https and to this host (and path). */
export function cookieName(site: Site, request: IncomingMessage, page: Page): string {
  const name = page === "portal" ? "posthorn-portal" : "posthorn";
  if (!site.isHttps(request)) return name;
  return `${site.basePath(request) === "" ? "__Host-" : "__Secure-"}${name}`;
}

/** The first of that name: a browser sends the one of the longest path first. */
export function readCookie({ headers }: IncomingMessage, name: string): string | null {
  for (const part of (headers.cookie ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}

export interface CookieOptions {
  readonly maxAgeSeconds: number;
  /** In a frame of another site it is sent too, and kept apart for each such site. */
  readonly isEmbedded: boolean;
}

export function writeCookie(
  site: Site,
  request: IncomingMessage,
  page: Page,
  text: string,
  { maxAgeSeconds, isEmbedded }: CookieOptions,
): string {
  const isHttps = site.isHttps(request);
  return [
    `${cookieName(site, request, page)}=${text}`,
    `Path=${site.basePath(request) || "/"}`,
    `Max-Age=${maxAgeSeconds}`,
    "HttpOnly",
    ...(isHttps ? ["Secure"] : []),
    // a browser takes None with Secure only
    ...(isEmbedded && isHttps ? ["SameSite=None", "Partitioned"] : ["SameSite=Strict"]),
  ].join("; ");
}
