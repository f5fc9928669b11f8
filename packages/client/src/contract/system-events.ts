// Events that Posthorn itself publishes. OpenAPI lists them under `webhooks`.
import { z } from "zod";
import { endpointId, tenantId, time } from "./parts.ts";

export const systemEvents = {
  "webhook.test": {
    summary: "A test event, which is sent regardless of the subscribed types",
    data: z
      .object({ message: z.string().describe("Explains that this is a test."), endpoint_id: endpointId })
      .meta({ id: "TestEvent" }),
  },
  "webhook.endpoint.disabled": {
    summary: "An endpoint of the tenant was disabled",
    data: z
      .object({
        endpoint_id: endpointId,
        tenant: tenantId,
        url: z.string().describe("URL of the endpoint without its query."),
        description: z.string().nullable().describe("Description of the endpoint. Null without one."),
        reason: z
          .string()
          .describe("`gone`: it returned 410. `failures` or `no_success`: it failed for too long."),
        disabled_at: time.describe("When it was disabled, in UTC."),
      })
      .meta({ id: "EndpointDisabledEvent" }),
  },
} as const;
