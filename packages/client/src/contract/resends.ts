// The feed of deliveries sent again manually or by a replay, which `posthorn tail` and `listen` follow.
import type { z } from "zod";
import { operation } from "./operation.ts";
import * as s from "./parts.ts";

export const resend = s.component("Resend", {
  delivery_id: s.deliveryId,
  event_id: s.eventId,
  endpoint_id: s.endpointId,
  tenant: s.tenantId,
  event_type: s.eventType,
  attempt: s.int("Number of the attempt."),
  trigger: s.text("Cause of the attempt: `manual` or `replay`."),
  resent_at: s.time.describe("When the attempt started, in UTC."),
});
export type Resend = z.output<typeof resend>;

export const resends = {
  list: operation("GET", "/api/v1/resends", {
    summary: "Lists deliveries sent again manually or by a replay, newest first",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: s.listQuery({ tenant: s.tenantFilter, type: s.typeFilter, resent_after: s.resentAfter }),
    response: { status: 200, schema: s.page(resend) },
  }),
};
