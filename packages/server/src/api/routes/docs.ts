// The reference of the API for people, rendered when it is first asked for.
import { openApi } from "@posthorn/client";
import { VERSION } from "../../version.ts";
import { DOCS_POLICY, docsPage, type OpenApiDocument } from "../docs/page.ts";
import type { Route } from "../router.ts";

let body: string | undefined;

export const docsRoute: Route = {
  method: "GET",
  path: "/docs",
  permission: "public",
  handle: () => {
    body ??= docsPage(openApi({ version: VERSION }) as unknown as OpenApiDocument);
    return {
      status: 200,
      contentType: "text/html; charset=utf-8",
      body,
      headers: ["Content-Security-Policy", DOCS_POLICY, "Referrer-Policy", "no-referrer"],
    };
  },
};
