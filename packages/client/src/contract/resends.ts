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
  resentAfter,
  tenantFilter,
  tenantId,
  time,
  typeFilter,
} from "./parts.ts";

export const resend = z
  .object({
    delivery_id: deliveryId,
    event_id: eventId,
    endpoint_id: endpointId,
    tenant: tenantId,
    event_type: eventType,
    attempt: z.int().describe("The number of the attempt that was asked for."),
    trigger: z.string().describe("`manual`: by hand; `replay`: by a replay."),
    resent_at: time.describe("When that attempt began, in UTC."),
  })
  .meta({ id: "Resend" });
export type Resend = z.output<typeof resend>;

export const resends = {
  list: operation({
    method: "GET",
    path: "/api/v1/resends",
    summary: "Lists what was sent again by hand or by a replay, newest first",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: listQuery({ tenant: tenantFilter, type: typeFilter, resent_after: resentAfter }),
    answer: { status: 200, schema: page(resend) },
  }),
};
