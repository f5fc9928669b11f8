// Deliveries that were sent again by hand or by a replay, as a feed: `posthorn tail` and `listen` follow it.
import { z } from "zod";
import { operation } from "./operation.ts";
import {
  deliveryId,
  endpointId,
  eventId,
  eventType,
  listQuery,
  page,
  tenantId,
  textFilter,
  time,
  timeFilter,
} from "./parts.ts";

export const resend = z
  .object({
    delivery_id: deliveryId,
    event_id: eventId,
    endpoint_id: endpointId,
    tenant: tenantId,
    event_type: eventType,
    attempt: z.int().describe("The number of the attempt."),
    trigger: z.string().describe("`manual` or `replay`."),
    resent_at: time,
  })
  .meta({ id: "Resend" });
export type Resend = z.output<typeof resend>;

export const resends = {
  list: operation({
    method: "GET",
    path: "/api/v1/resends",
    summary: "Lists what was sent again by hand or by a replay, newest first",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: listQuery({ tenant: textFilter, type: textFilter, resent_after: timeFilter }),
    answer: { status: 200, schema: page(resend) },
  }),
};
