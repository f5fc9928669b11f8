// Events that Posthorn itself publishes. OpenAPI lists them under `webhooks`.
import * as s from "./parts.ts";

export const systemEvents = {
  "webhook.test": {
    summary: "A test event, which is sent regardless of the subscribed types",
    data: s.component("TestEvent", {
      message: s.text("Explains that this is a test."),
      endpoint_id: s.endpointId,
    }),
  },
  "webhook.endpoint.disabled": {
    summary: "An endpoint of the tenant was disabled",
    data: s.component("EndpointDisabledEvent", {
      endpoint_id: s.endpointId,
      tenant: s.tenantId,
      url: s.text("URL of the endpoint without its query."),
      description: s.nullableText("Description of the endpoint. Null without one."),
      reason: s.text("`gone`: it returned 410. `failures` or `no_success`: it failed for too long."),
      disabled_at: s.time.describe("When it was disabled, in UTC."),
    }),
  },
} as const;
