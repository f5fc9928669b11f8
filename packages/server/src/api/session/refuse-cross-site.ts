// Protects against cross-site request forgery: a request with a cookie must come from one of our own pages.
import type { IncomingMessage } from "node:http";
import { HttpError } from "../http-error.ts";
import { PAGE_HEADER, type Page, pageOf } from "./cookie.ts";
import type { Site } from "./site.ts";

/** Returns which of our pages sent the request; throws if none did. */
export function refuseCrossSite(site: Site, request: IncomingMessage): Page {
  if (!site.isKnownHost(request)) throw new HttpError("unknown_host", UNKNOWN_HOST);
  const page = pageOf(request);
  if (page === null || !site.isOwnPage(request)) {
    throw new HttpError(
      "cross_site_request",
      `Sessions are for this server's own pages, which send the header ${PAGE_HEADER}. Programs send a key as \`Authorization: Bearer <key>\`.`,
    );
  }
  return page;
}

export const UNKNOWN_HOST =
  "This host name is not configured. Set POSTHORN_PUBLIC_URL to the public URL of this server, or add the name to POSTHORN_ALLOWED_HOSTS.";
