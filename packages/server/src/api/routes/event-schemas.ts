// GET /event-schemas/{type}/{version}.json: the JSON schema of an event type, where the `dataschema` of CloudEvents points.
// Receivers have no key, so it needs none. Nothing else of the catalogue is public.
import { type Posthorn, PosthornError } from "posthorn";
import { cacheable } from "../entity-tag.ts";
import type { Exchange } from "../exchange.ts";
import type { Reply } from "../reply.ts";
import { publicRoute, type Route } from "../router.ts";

const CACHE_SECONDS = 300;

export function eventSchemaRoute({ eventTypes }: Posthorn): Route {
  return publicRoute(
    "GET",
    "/event-schemas/{type}/{version}.json",
    async (exchange: Exchange): Promise<Reply> => {
      const { type = "", version = "" } = exchange.params;
      const { schema } = await eventTypes.get(type, { apiVersion: version });
      if (schema === null)
        throw new PosthornError("event_type_not_found", "This version of the event type has no schema.");
      const body = JSON.stringify(schema);
      return cacheable(exchange.request, "application/schema+json", body, CACHE_SECONDS);
    },
  );
}
