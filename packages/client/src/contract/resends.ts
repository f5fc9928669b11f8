// The feed of deliveries sent again manually or by a replay, which `posthorn tail` and `listen` follow.
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
    attempt: z.int().describe("Number of the attempt."),
    trigger: z.string().describe("Cause of the attempt: `manual` or `replay`."),
    resent_at: time.describe("When the attempt started, in UTC."),
  })
  .meta({ id: "Resend" });
export type Resend = z.output<typeof resend>;

export const resends = {
  list: operation({
    method: "GET",
    path: "/api/v1/resends",
    summary: "Lists deliveries sent again manually or by a replay, newest first",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: listQuery({ tenant: tenantFilter, type: typeFilter, resent_after: resentAfter }),
    answer: { status: 200, schema: page(resend) },
  }),
};
