// Deliveries: one for each event and endpoint, with every attempt that was made.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import {
  createdAfter,
  createdBefore,
  deliveryId,
  endpointFilter,
  endpointId,
  eventId,
  eventType,
  listQuery,
  nothing,
  page,
  reasonFilter,
  tenantFilter,
  tenantId,
  time,
  typeFilter,
} from "./parts.ts";

const state = z
  .enum(["pending", "in_flight", "success", "failed", "dead"])
  .describe(
    "`pending`: to be sent. `in_flight`: being sent. `success`: answered with 2xx. `failed`: to be tried again. `dead`: given up.",
  );

export const delivery = z
  .object({
    id: deliveryId,
    event_id: eventId,
    endpoint_id: endpointId,
    tenant: tenantId,
    event_type: eventType,
    subject: z.string().nullable().describe("That of its event; null without one."),
    sequence: z.int().nullable().describe("That of its event within the subject; null without a subject."),
    state,
    attempt_count: z.int().describe("HTTP requests made so far."),
    next_retry_at: time
      .nullable()
      .describe("When it is tried again; null when it is not, or while it waits for its turn."),
    dead_reason: z
      .string()
      .nullable()
      .describe(
        "Null unless it is dead: `attempts_exhausted`, `too_old`, `rejected`, `redirect`, `gone`, `blocked_address`, `invalid_request`, `lease_ended`, `endpoint_deleted`, `discarded` or `cancelled`.",
      ),
    replay_count: z.int().describe("How often a replay made it owed again; retries by hand do not count."),
    created_at: time.describe("When its event was published, in UTC."),
    delivered_at: time.nullable().describe("When it succeeded; null unless it did."),
    dead_at: time
      .nullable()
      .describe("When it was given up, called off or discarded; null unless it is dead."),
    waits_for: z
      .enum(["tenant", "endpoint", "handshake"])
      .nullable()
      .describe(
        "What has to change before it is sent at all: `tenant`: that is inactive. `endpoint`: that is disabled. `handshake`: its endpoint was asked whether it wants webhooks and has not agreed. Null: nothing of these, or it is not `pending` or `failed`.",
      ),
  })
  .meta({ id: "Delivery" });
export type Delivery = z.output<typeof delivery>;

const phase = (description: string) => z.int().nullable().describe(description);

export const attempt = z
  .object({
    number: z.int().describe("1 for the first attempt, 2 for the second …"),
    started_at: time.nullable().describe("Null where the worker died: it may or may not have been sent."),
    duration_ms: z
      .int()
      .nullable()
      .describe("How long it took, in milliseconds; null where the worker died."),
    status_code: z.int().nullable().describe("HTTP status of the answer; null when none came."),
    error: z.string().nullable().describe("Why no answer came, such as `timeout`; null when one did."),
    response_body: z
      .string()
      .nullable()
      .describe(
        "The first 1 KB, or what went wrong in words. Masked where the catalogue hides anything of the event, without payloads:read.",
      ),
    next_retry_at: time
      .nullable()
      .describe("When it was to be tried again, as decided then; null: not at all."),
    trigger: z
      .enum(["event", "retry", "manual", "replay", "test"])
      .describe("Why it was made: a new event, the retry policy, somebody by hand, a replay, or a test."),
    worker: z.int().describe("Number of the worker that made it."),
    phases: z
      .object({
        queue_ms: phase("From when it was due until it began; null where that was by hand or by a replay."),
        connect_ms: phase(
          "Until it had a connection: its turn, the name and TCP. Null on one that was open already.",
        ),
        tls_ms: phase("The TLS handshake; null on a connection that was open already, and over http."),
        first_byte_ms: phase("From the request to the answer's headers; null when no answer came."),
        body_ms: phase("From the headers to the end of the body; null when no answer came."),
      })
      .describe(
        "Where the time went, in milliseconds. All but `queue_ms` add up to `duration_ms`, where an answer came. Attempts of older versions have `queue_ms` alone.",
      ),
  })
  .meta({ id: "Attempt" });
export type Attempt = z.output<typeof attempt>;

const deliveryDetail = delivery
  .extend({
    attempts: z
      .array(attempt)
      .describe("Its attempts so far, the first one first; of more than 250 the newest 250."),
    members: z
      .array(eventId)
      .nullable()
      .describe("Of a batch: the events that it was made of, in their order. Null of any other delivery."),
  })
  .meta({ id: "DeliveryDetail" });
export type DeliveryDetail = z.output<typeof deliveryDetail>;

const deliveryRequest = z
  .object({
    attempt: z.int().describe("Number of the attempt."),
    method: z.literal("POST").describe("Always `POST`."),
    url: z.string().describe("Where it went. Its query is masked without webhooks:manage."),
    headers: z
      .record(z.string(), z.string())
      .describe(
        "By name, all but those that are HTTP's own: `Host`, `Connection` and `Content-Length`. Values of custom headers are masked without webhooks:manage, signatures without that and payloads:read.",
      ),
    body: z.string().describe("What the catalogue hides is masked without payloads:read."),
    signed_at: time.nullable().describe("The time that is signed; null where the worker died."),
    is_fresh: z.boolean().describe("True: signed for this answer, and receivers accept it."),
    is_exact: z.boolean().describe("True: apart from what is masked, it is byte for byte what was sent."),
    differences: z
      .array(
        z.object({
          reason: z
            .enum(["settings_changed", "time_unknown", "traced", "freshly_signed"])
            .describe("Why it may not be what was sent."),
          detail: z.string().describe("The reason in a sentence."),
        }),
      )
      .describe("Why it is not exact; none when it is."),
    masked: z.array(z.string()).describe("What is masked: `url`, `body`, and names of headers."),
  })
  .meta({ id: "DeliveryRequest" });
export type DeliveryRequest = z.output<typeof deliveryRequest>;

const ofEndpoint = {
  state: state.optional().describe("Only in this state."),
  type: typeFilter,
  reason: reasonFilter,
  created_after: createdAfter,
  created_before: createdBefore,
};
const ofTenant = { endpoint: endpointFilter, ...ofEndpoint };
const ofAll = { tenant: tenantFilter, ...ofTenant };

const path = "/api/v1/deliveries/{delivery}";
const reading: Permission = { scopes: ["deliveries:read"], reach: "tenant" };
const retrying: Permission = { scopes: ["deliveries:retry"], reach: "tenant" };

export const deliveries = {
  list: operation({
    method: "GET",
    path: "/api/v1/deliveries",
    summary: "Lists deliveries, newest first",
    permission: reading,
    query: listQuery(ofAll),
    answer: { status: 200, schema: page(delivery) },
  }),
  listOfTenant: operation({
    method: "GET",
    path: "/api/v1/tenants/{tenant}/deliveries",
    summary: "Lists a tenant's deliveries, newest first",
    permission: reading,
    query: listQuery(ofTenant),
    answer: { status: 200, schema: page(delivery) },
    refusals: { 404: ["tenant_not_found"] },
  }),
  listOfEndpoint: operation({
    method: "GET",
    path: "/api/v1/tenants/{tenant}/endpoints/{endpoint}/deliveries",
    summary: "Lists an endpoint's deliveries, newest first",
    permission: reading,
    query: listQuery(ofEndpoint),
    answer: { status: 200, schema: page(delivery) },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows a delivery with its attempts",
    permission: reading,
    answer: { status: 200, schema: deliveryDetail },
    refusals: { 404: ["delivery_not_found"] },
  }),
  request: operation({
    method: "GET",
    path: `${path}/request`,
    summary: "Shows the request of an attempt as it was sent, or signed anew",
    permission: reading,
    query: z.object({
      attempt: z
        .int()
        .min(1)
        .max(1_000_000)
        .optional()
        .describe("Number of the attempt; left out: the last one."),
      fresh: z
        .boolean()
        .default(false)
        .describe(
          "Signed now, so that the receiver accepts it; needs webhooks:manage and payloads:read as well, and is in the audit log.",
        ),
    }),
    privilege: { parameter: "fresh", scopes: ["webhooks:manage", "payloads:read"] },
    answer: { status: 200, schema: deliveryRequest },
    refusals: {
      404: ["delivery_not_found", "attempt_not_found", "event_not_found"],
      409: ["endpoint_deleted", "request_not_made"],
    },
  }),
  retry: operation({
    method: "POST",
    path: `${path}/retry`,
    summary: "Tries it again now, with a fresh budget of attempts",
    permission: retrying,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 202, schema: delivery },
    refusals: {
      404: ["delivery_not_found"],
      409: [
        "delivery_in_flight",
        "endpoint_disabled",
        "endpoint_not_agreed",
        "endpoint_deleted",
        "tenant_inactive",
      ],
    },
  }),
  cancel: operation({
    method: "POST",
    path: `${path}/cancel`,
    summary: "Calls it off: dead, with the reason `cancelled`",
    permission: retrying,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 200, schema: delivery },
    refusals: { 404: ["delivery_not_found"], 409: ["delivery_in_flight", "delivery_over"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes a dead delivery for good",
    permission: retrying,
    answer: { status: 204, schema: null },
    refusals: { 404: ["delivery_not_found"], 409: ["delivery_not_dead"] },
  }),
  retryQueue: operation({
    method: "GET",
    path: "/api/v1/retry-queue",
    summary: "Lists failed deliveries in the order of their next attempts",
    permission: reading,
    query: listQuery({ tenant: tenantFilter, endpoint: endpointFilter }),
    answer: { status: 200, schema: page(delivery) },
  }),
};
