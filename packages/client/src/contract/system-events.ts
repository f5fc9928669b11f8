// Events that Posthorn itself publishes. OpenAPI lists them under `webhooks`.
import * as s from "./parts.ts";

const endpoint = {
  endpoint_id: s.endpointId,
  tenant: s.tenantId,
  url: s.text("URL of the endpoint without its query."),
  description: s.nullableText("Description of the endpoint. Null without one."),
};

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
      ...endpoint,
      reason: s.text("`gone`: it returned 410. `failures` or `no_success`: it failed for too long."),
      disabled_at: s.time.describe("When it was disabled, in UTC."),
    }),
  },
  "webhook.endpoint.circuit_opened": {
    summary: "Most attempts to an endpoint of the tenant fail, so its deliveries wait",
    data: s.component("CircuitOpenedEvent", {
      ...endpoint,
      last_error: s.nullableText("Error of the last attempt, such as `HTTP 500` or `timeout`."),
      opened_at: s.time.describe("When the circuit opened, in UTC."),
    }),
  },
  "webhook.endpoint.recovered": {
    summary: "An endpoint of the tenant receives deliveries again",
    data: s.component("CircuitRecoveredEvent", {
      ...endpoint,
      recovered_at: s.time.describe("When the circuit closed, in UTC."),
    }),
  },
  "webhook.delivery.dead": {
    summary: "A delivery to an endpoint of the tenant failed for good",
    data: s.component("DeliveryDeadEvent", {
      delivery_id: s.deliveryId,
      event_id: s.eventId,
      event_type: s.text("Type of the event."),
      ...endpoint,
      reason: s.text("Why it is dead, as in `dead_reason` of the delivery."),
      dead_at: s.time.describe("When it died, in UTC."),
    }),
  },
} as const;
