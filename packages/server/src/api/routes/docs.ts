// GET /docs: the API reference as HTML, rendered on the first request.
import { openApi } from "@posthorn/client";
import { VERSION } from "../../version.ts";
import { escapeHtml } from "../docs/html.ts";
import { DOCS_POLICY, docsPage, type OpenApiDocument, SERVER_URL } from "../docs/page.ts";
import type { Route } from "../router.ts";
import type { Site } from "../session/site.ts";

const PATH = "/docs";

let page: string | undefined;

export function docsRoute(site: Site): Route {
  return {
    method: "GET",
    path: PATH,
    permission: "public",
    handle: ({ request }) => {
      page ??= docsPage(openApi({ version: VERSION }) as unknown as OpenApiDocument);
      return {
        status: 200,
        contentType: "text/html; charset=utf-8",
        body: page.replace(SERVER_URL, () => escapeHtml(site.url(request))),
        headers: ["Content-Security-Policy", DOCS_POLICY, "Referrer-Policy", "no-referrer"],
      };
    },
  };
}
