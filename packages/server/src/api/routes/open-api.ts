// GET /openapi.json: the contract as OpenAPI 3.1, generated once.
import { openApi } from "@posthorn/client";
import { VERSION } from "../../version.ts";
import type { Route } from "../router.ts";

const body = JSON.stringify(openApi({ version: VERSION }));

export const openApiRoute: Route = {
  method: "GET",
  path: "/openapi.json",
  permission: "public",
  handle: () => ({ status: 200, body }),
};
