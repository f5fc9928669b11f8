// What comes with a cookie may have been sent by any page that the browser has open: only our own may.
import type { IncomingMessage } from "node:http";
import { HttpError } from "../http-error.ts";
import { PAGE_HEADER, type Page, pageOf } from "./cookie.ts";
import type { Site } from "./site.ts";

/** Throws unless it is a page of ours, on a host of ours; which of the pages it is. */
export function refuseCrossSite(site: Site, request: IncomingMessage): Page {
  if (!site.isKnownHost(request)) throw unknownHost();
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
  "This server does not know itself by this host name. Set POSTHORN_PUBLIC_URL to where people reach it, or add the name to POSTHORN_ALLOWED_HOSTS.";

function unknownHost(): HttpError {
  return new HttpError("unknown_host", UNKNOWN_HOST);
}
