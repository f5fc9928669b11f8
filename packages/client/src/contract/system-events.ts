// The events that Posthorn itself publishes to endpoints; they stand in OpenAPI under `webhooks`.
import { z } from "zod";
import { endpointId, tenantId, time } from "./parts.ts";

export const systemEvents = {
  "webhook.test": {
    summary: "Sent by hand to try an endpoint out, whatever it subscribes to",
    data: z.object({ message: z.string(), endpoint_id: endpointId }).meta({ id: "TestEvent" }),
  },
  "webhook.endpoint.disabled": {
    summary: "An endpoint of the tenant was disabled",
    data: z
      .object({
        endpoint_id: endpointId,
        tenant: tenantId,
        url: z.string(),
        description: z.string().nullable(),
        reason: z.string(),
        disabled_at: time,
      })
      .meta({ id: "EndpointDisabledEvent" }),
  },
} as const;
