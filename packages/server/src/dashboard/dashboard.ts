// Serves the dashboard and the portal: two HTML pages for all their screens, and their assets. The pages contain no data;
// they load it from the API.
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { escapeHtml, html, prose } from "../api/docs/html.ts";
import { plainPage } from "../api/docs/plain-page.ts";
import { hasTag } from "../api/entity-tag.ts";
import type { Reply } from "../api/reply.ts";
import type { Page } from "../api/session/cookie.ts";
import { UNKNOWN_HOST } from "../api/session/refuse-cross-site.ts";
import type { PortalOptions } from "../api/session/sign-in.ts";
import type { Site } from "../api/session/site.ts";
import { screenAt } from "./screens.ts";
import { contentTypeOf, STATIC_FOLDER, StaticFiles } from "./static-files.ts";

export interface Dashboard {
  /** Returns a screen or an asset, or null if the path does not belong to the dashboard. */
  readonly serve: (request: IncomingMessage, path: string) => Promise<Reply | null>;
  /** Returns a page for an address that does not exist, or null for clients that are no browsers. */
  readonly serveUnknown: (request: IncomingMessage, path: string) => Promise<Reply | null>;
  /** The page of the API reference without its content; undefined if the dashboard is not built. */
  readonly docsTemplate: () => Promise<string | undefined>;
}

const HTML_TYPE = "text/html; charset=utf-8";
/** For assets, whose names contain a hash of their content. */
const YEAR = "public, max-age=31536000, immutable";
/** For pages: revalidated with every request, with 304 if unchanged. */
const REVALIDATED = "no-cache";
const FILES: Readonly<Record<Page, string>> = { dashboard: "index.html", portal: "portal.html" };

export function createDashboard(site: Site, portal: PortalOptions, folder = STATIC_FOLDER): Dashboard {
  const files = new StaticFiles(folder);
  const { origins: framedBy = [] } = portal;

  return {
    async serve(request, path) {
      if (!isRead(request)) return null;
      const [, name] = /^\/assets\/([^/]+)$/.exec(path) ?? [];
      if (name !== undefined) return await asset(request, name);
      const page = wantsHtml(request) ? screenAt(path) : null;
      return page === null ? null : await pageReply(request, page);
    },
    async serveUnknown(request, path) {
      if (!isRead(request) || !wantsHtml(request) || /^\/(?:api|assets)\//.test(path)) return null;
      return await pageReply(request, path.startsWith("/portal/") ? "portal" : "dashboard", 404);
    },
    docsTemplate: async () => (await files.read("docs.html"))?.toString(),
  };

  async function asset(request: IncomingMessage, name: string): Promise<Reply | null> {
    const contentType = contentTypeOf(name);
    const accepted = String(request.headers["accept-encoding"] ?? "");
    const found = contentType === null ? null : await files.asset(name, accepted);
    if (contentType === null || found === null) return null;
    const { bytes, encoding } = found;
    return {
      status: 200,
      contentType,
      body: bytes,
      cacheControl: YEAR,
      headers: [
        ...["Vary", "Accept-Encoding", "Content-Security-Policy", "default-src 'none'"],
        ...["Cross-Origin-Resource-Policy", "same-origin"],
        ...(encoding === null ? [] : ["Content-Encoding", encoding]),
      ],
    };
  }

  async function pageReply(request: IncomingMessage, page: Page, status: 200 | 404 = 200): Promise<Reply> {
    if (!site.isKnownHost(request))
      return plainPage(421, "Unknown host name", html`<p>${prose(UNKNOWN_HOST)}</p>`);
    const file = await files.read(FILES[page]);
    if (file === null) return plainPage(503, "The dashboard is not built", html`<p>${prose(NOT_BUILT)}</p>`);
    const base = `<base href="${escapeHtml(`${site.basePath(request)}/`)}">`;
    const extra = page === "portal" ? base + portalMeta(portal) : base;
    const body = file.toString().replace(/<head\b[^>]*>/i, (head) => head + extra);
    const reply = {
      status,
      contentType: HTML_TYPE,
      body,
      cacheControl: REVALIDATED,
      headers: pageHeaders(page === "portal" ? framedBy : []),
    };
    return status === 200 ? revalidated(request, reply) : reply;
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

function wantsHtml({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? "");
}

const NOT_BUILT =
  "The API works, but the dashboard is not built. Run `npm run build` in the repository. The npm package contains it.";

/** Data that the portal needs before sign-in: its theme, and the origins it may notify that there is no session. */
function portalMeta({ origins = [], name, logoUrl, accent, appearance = "auto" }: PortalOptions): string {
  const content = JSON.stringify({ origins, name, logoUrl, accent, appearance });
  return `<meta name="posthorn-portal" content="${escapeHtml(content)}">`;
}

function pageHeaders(framedBy: readonly string[]): string[] {
  const ancestors = framedBy.length === 0 ? "'none'" : framedBy.join(" ");
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    // prevents DOM-based injection
    "require-trusted-types-for 'script'",
    `frame-ancestors ${ancestors}`,
  ];
  return [
    ...["Content-Security-Policy", policy.join("; ")],
    ...["Referrer-Policy", "no-referrer"],
    ...["Cross-Origin-Opener-Policy", "same-origin"],
    ...["Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"],
    ...(framedBy.length === 0
      ? ["X-Frame-Options", "DENY", "Cross-Origin-Resource-Policy", "same-origin"]
      : []),
  ];
}

function revalidated(request: IncomingMessage, reply: Reply & { readonly body: string }): Reply {
  const { body, contentType: _, headers = [], ...rest } = reply;
  const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  const tagged = [...headers, "ETag", etag];
  return hasTag(request, etag) ? { ...rest, status: 304, headers: tagged } : { ...reply, headers: tagged };
}
