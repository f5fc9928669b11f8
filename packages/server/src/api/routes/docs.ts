// The reference of the API for people, rendered when it is first asked for.
import type { IncomingMessage } from "node:http";
import { openApi } from "@posthorn/client";
import { VERSION } from "../../version.ts";
import { escapeHtml } from "../docs/html.ts";
import { DOCS_POLICY, docsPage, type OpenApiDocument, SERVER_URL } from "../docs/page.ts";
import type { Route } from "../router.ts";

const PATH = "/docs";

let page: string | undefined;

/** `publicUrl` is where the examples lead; without one, to where the page was asked for. */
export function docsRoute(publicUrl: string | undefined): Route {
  return {
    method: "GET",
    path: PATH,
    permission: "public",
    handle: ({ request }) => {
      page ??= docsPage(openApi({ version: VERSION }) as unknown as OpenApiDocument);
      const url = publicUrl?.replace(/\/+$/, "") ?? addressAsked(request);
      return {
        status: 200,
        contentType: "text/html; charset=utf-8",
        body: page.replace(SERVER_URL, () => escapeHtml(url)),
        headers: ["Content-Security-Policy", DOCS_POLICY, "Referrer-Policy", "no-referrer"],
      };
    },
  };
}

/** It is pasted into a shell: what is no host name, address and port is left out. */
function addressAsked(request: IncomingMessage): string {
  const { originalUrl, url = PATH, headers, socket } = request as IncomingMessage & { originalUrl?: string };
  const host = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.exec(headers.host ?? "")?.[0] ?? "…";
  const [path = PATH] = (originalUrl ?? url).split("?");
  const mountedAt = /^(\/[\w./-]*)\/docs$/.exec(path)?.[1] ?? "";
  return `${"encrypted" in socket ? "https" : "http"}://${host}${mountedAt}`;
}
