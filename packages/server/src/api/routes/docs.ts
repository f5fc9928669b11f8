// The API reference: GET /openapi.json as OpenAPI 3.1, and GET /docs as HTML, each rendered on its first request.
import { openApi } from "@posthorn/client";
import type { Dashboard } from "../../dashboard/dashboard.ts";
import { VERSION } from "../../version.ts";
import { escapeHtml } from "../docs/html.ts";
import { DOCS_POLICY, docsPage, type OpenApiDocument, SERVER_URL } from "../docs/page.ts";
import { json, type Reply } from "../reply.ts";
import { publicRoute, type Route } from "../router.ts";
import type { Site } from "../session/site.ts";

let documentReply: Reply | undefined;

export function docsRoutes(site: Site, dashboard: Dashboard): Route[] {
  let page: string | undefined;
  return [
    publicRoute("GET", "/openapi.json", readDocument),
    publicRoute("GET", "/docs", async ({ request }) => {
      page ??= docsPage(document() as unknown as OpenApiDocument, await dashboard.docsTemplate());
      return {
        status: 200,
        contentType: "text/html; charset=utf-8",
        body: page.replace(SERVER_URL, () => escapeHtml(site.url(request))),
        headers: ["Content-Security-Policy", DOCS_POLICY, "Referrer-Policy", "no-referrer"],
      };
    }),
  ];
}

function readDocument(): Reply {
  documentReply ??= json(200, document());
  return documentReply;
}

function document(): ReturnType<typeof openApi> {
  return openApi({ version: VERSION });
}
