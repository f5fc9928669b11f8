// Webhooks: one signed POST per delivery.
import type { Destination } from "../destination.ts";
import { httpDestination } from "../http/http-destination.ts";
import { buildRequest } from "./build-request.ts";

/** Shared by all endpoints of no other kind. */
export const WEBHOOK = httpDestination({ request: buildRequest });

/** Returns a kind of webhook whose requests have further headers. */
export function webhookWith(
  kind: Pick<Destination, "mayStart" | "allowedPerMinute">,
  headers: Readonly<Record<string, string>>,
): Destination {
  return httpDestination({
    ...kind,
    request(...parameters) {
      const request = buildRequest(...parameters);
      return { ...request, headers: { ...request.headers, ...headers } };
    },
  });
}
