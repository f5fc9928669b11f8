// The events that Posthorn itself publishes to endpoints; they stand in OpenAPI under `webhooks`.
import { z } from "zod";
import { endpointId, tenantId, time } from "./parts.ts";

export const systemEvents = {
  "webhook.test": {
    summary: "Sent by hand to try an endpoint out, whatever it subscribes to",
    data: z
      .object({ message: z.string().describe("A sentence that says it is a test."), endpoint_id: endpointId })
      .meta({ id: "TestEvent" }),
  },
  "webhook.endpoint.disabled": {
    summary: "An endpoint of the tenant was disabled",
    data: z
      .object({
        endpoint_id: endpointId,
        tenant: tenantId,
        url: z.string().describe("The endpoint's URL, without its query."),
        description: z.string().nullable().describe("The endpoint's description; null without one."),
        reason: z
          .string()
          .describe("`gone`: it answered 410; `failures` or `no_success`: it failed for too long."),
        disabled_at: time.describe("When it was disabled, in UTC."),
      })
      .meta({ id: "EndpointDisabledEvent" }),
  },
} as const;
