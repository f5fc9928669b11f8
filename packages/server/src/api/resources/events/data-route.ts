// GET /event-data/{event}: the data of an event with its original content type, for the `dataref` of CloudEvents without
// data. The publisher controls both, so browsers must not render it as a page of this origin.
import { contract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { redaction, tenantScope } from "../../principal.ts";
import type { Route } from "../../router.ts";

export function eventDataRoute({ events }: Posthorn): Route {
  return {
    method: "GET",
    path: "/event-data/{event}",
    permission: contract.events.get.permission,
    handle: async ({ params, principal }) => {
      const scope = { ...tenantScope(principal), ...redaction(principal) };
      const { contentType = "application/octet-stream", body } = await events.data(
        params.event as string,
        scope,
      );
      return { status: 200, contentType, body: Buffer.from(body), headers: NOT_A_PAGE };
    },
  };
}

const NOT_A_PAGE = ["Content-Security-Policy", "sandbox", "Content-Disposition", "attachment"];
