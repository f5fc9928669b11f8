// The session cookie: not readable by scripts, and limited to this site, host and path.
import type { IncomingMessage } from "node:http";
import type { Site } from "./site.ts";

/** Each page has its own cookie, so that an operator who opens a customer's portal stays signed in. */
export type Page = "dashboard" | "portal";

/** Header that only our own pages can send; forms and links of other sites cannot. */
export const PAGE_HEADER = "posthorn-dashboard";

export function pageOf({ headers }: IncomingMessage): Page | null {
  const given = headers[PAGE_HEADER];
  if (given === "1") return "dashboard";
  return given === "portal" ? "portal" : null;
}

/** With https the name has a prefix that makes browsers enforce https, the host and the path. */
export function cookieName(site: Site, request: IncomingMessage, page: Page): string {
  const name = page === "portal" ? "posthorn-portal" : "posthorn";
  if (!site.isHttps(request)) return name;
  return `${site.basePath(request) === "" ? "__Host-" : "__Secure-"}${name}`;
}

/** Returns the first cookie of that name; browsers send the one with the longest path first. */
export function readCookie({ headers }: IncomingMessage, name: string): string | null {
  for (const part of (headers.cookie ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}

/** `isEmbedded` also sends the cookie in frames of other sites, with a separate cookie for each site. */
export function writeCookie(
  site: Site,
  request: IncomingMessage,
  page: Page,
  text: string,
  { maxAgeSeconds, isEmbedded }: { maxAgeSeconds: number; isEmbedded: boolean },
): string {
  const isHttps = site.isHttps(request);
  return [
    `${cookieName(site, request, page)}=${text}`,
    `Path=${site.basePath(request) || "/"}`,
    `Max-Age=${maxAgeSeconds}`,
    "HttpOnly",
    ...(isHttps ? ["Secure"] : []),
    // browsers accept SameSite=None only with Secure
    ...(isEmbedded && isHttps ? ["SameSite=None", "Partitioned"] : ["SameSite=Strict"]),
  ].join("; ");
}
