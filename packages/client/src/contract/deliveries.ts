// Deliveries, one per event and endpoint, with their attempts.
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
    "`pending`: waiting for the first attempt. `in_flight`: being sent. `success`: the receiver returned 2xx. `failed`: waiting for a retry. `dead`: failed for good, cancelled or discarded.",
  );

export const delivery = z
  .object({
    id: deliveryId,
    event_id: eventId,
    endpoint_id: endpointId,
    tenant: tenantId,
    event_type: eventType,
    subject: z.string().nullable().describe("Subject of the event. Null without one."),
    sequence: z
      .int()
      .nullable()
      .describe("Sequence of the event within the subject. Null without a subject."),
    state,
    attempt_count: z.int().describe("Number of HTTP requests so far."),
    next_retry_at: time.nullable().describe("Time of the next retry. Null if none is scheduled."),
    dead_reason: z
      .string()
      .nullable()
      .describe(
        "Reason why it is dead: `attempts_exhausted`, `too_old`, `rejected`, `redirect`, `gone`, `blocked_address`, `invalid_request`, `lease_ended`, `endpoint_deleted`, `discarded` or `cancelled`. Null unless it is dead.",
      ),
    replay_count: z.int().describe("How often a replay queued it again. Manual retries do not count."),
    created_at: time.describe("When the event was published, in UTC."),
    delivered_at: time.nullable().describe("When it succeeded. Null unless it did."),
    dead_at: time.nullable().describe("When it became dead. Null unless it is dead."),
    waits_for: z
      .enum(["tenant", "endpoint", "handshake"])
      .nullable()
      .describe(
        "Why a `pending` or `failed` delivery is held. `tenant`: the tenant is inactive. `endpoint`: the endpoint is disabled. `handshake`: the endpoint has not granted the handshake. Null if it is not held.",
      ),
  })
  .meta({ id: "Delivery" });
export type Delivery = z.output<typeof delivery>;

const phase = (description: string) => z.int().nullable().describe(description);

export const attempt = z
  .object({
    number: z.int().describe("Number of the attempt, starting at 1."),
    started_at: time
      .nullable()
      .describe("When it started. Null if the worker died: it may or may not have been sent."),
    duration_ms: z.int().nullable().describe("Duration in milliseconds. Null if the worker died."),
    status_code: z.int().nullable().describe("HTTP status of the response. Null without a response."),
    error: z
      .string()
      .nullable()
      .describe("Why there was no response, such as `timeout`. Null with a response."),
    response_body: z
      .string()
      .nullable()
      .describe(
        "First 1 KB of the response, or a description of the error. Redacted without payloads:read if the catalogue redacts parts of the event.",
      ),
    next_retry_at: time.nullable().describe("When the next attempt was scheduled. Null if there was none."),
    trigger: z
      .enum(["event", "retry", "manual", "replay", "test"])
      .describe("Cause of the attempt: a new event, the retry policy, a manual retry, a replay or a test."),
    worker: z.int().describe("Id of the worker that sent it."),
    phases: z
      .object({
        queue_ms: phase("From the due time to the start. Null for a manual retry or a replay."),
        connect_ms: phase("Waiting for a connection, name resolution and TCP. Null on a reused connection."),
        tls_ms: phase("TLS handshake. Null on a reused connection and over http."),
        first_byte_ms: phase("From the request to the response headers. Null without a response."),
        body_ms: phase("From the headers to the end of the body. Null without a response."),
      })
      .describe(
        "Duration of each phase in milliseconds. With a response, all but `queue_ms` add up to `duration_ms`.",
      ),
  })
  .meta({ id: "Attempt" });
export type Attempt = z.output<typeof attempt>;

const deliveryDetail = delivery
  .extend({
    attempts: z.array(attempt).describe("The newest 250 attempts, oldest first."),
    members: z
      .array(eventId)
      .nullable()
      .describe("Ids of the events in a batch, in order. Null for other deliveries."),
  })
  .meta({ id: "DeliveryDetail" });
export type DeliveryDetail = z.output<typeof deliveryDetail>;

const deliveryRequest = z
  .object({
    attempt: z.int().describe("Number of the attempt."),
    method: z.literal("POST").describe("Always `POST`."),
    url: z.string().describe("The URL. Its query is redacted without webhooks:manage."),
    headers: z
      .record(z.string(), z.string())
      .describe(
        "All headers except `Host`, `Connection` and `Content-Length`. Custom headers are redacted without webhooks:manage, signatures without webhooks:manage and payloads:read.",
      ),
    body: z
      .string()
      .describe("The body. Paths that the catalogue redacts are redacted without payloads:read."),
    signed_at: time.nullable().describe("The signed timestamp. Null if the worker died."),
    is_fresh: z.boolean().describe("True if it was signed for this response, so that receivers accept it."),
    is_exact: z.boolean().describe("True if it is identical to the bytes sent, except for redacted parts."),
    differences: z
      .array(
        z.object({
          reason: z
            .enum(["settings_changed", "time_unknown", "traced", "freshly_signed"])
            .describe("Why it may differ from the request sent."),
          detail: z.string().describe("Explanation of the reason."),
        }),
      )
      .describe("Why it is not exact. Empty if it is."),
    masked: z.array(z.string()).describe("Redacted parts: `url`, `body` and names of headers."),
  })
  .meta({ id: "DeliveryRequest" });
export type DeliveryRequest = z.output<typeof deliveryRequest>;

const ofEndpoint = {
  state: state.optional().describe("Only deliveries in this state."),
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
    summary: "Returns a delivery with its attempts",
    permission: reading,
    answer: { status: 200, schema: deliveryDetail },
    refusals: { 404: ["delivery_not_found"] },
  }),
  request: operation({
    method: "GET",
    path: `${path}/request`,
    summary: "Returns the request of an attempt as it was sent, or signed again",
    permission: reading,
    query: z.object({
      attempt: z
        .int()
        .min(1)
        .max(1_000_000)
        .optional()
        .describe("Number of the attempt. Defaults to the last one."),
      fresh: z
        .boolean()
        .default(false)
        .describe(
          "Sign the request now, so that the receiver accepts it. Also needs webhooks:manage and payloads:read, and is recorded in the audit log.",
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
    summary: "Retries a delivery now and restarts its retry policy",
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
    summary: "Cancels a delivery: it becomes dead with the reason `cancelled`",
    permission: retrying,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 200, schema: delivery },
    refusals: { 404: ["delivery_not_found"], 409: ["delivery_in_flight", "delivery_over"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes a dead letter permanently",
    permission: retrying,
    answer: { status: 204, schema: null },
    refusals: { 404: ["delivery_not_found"], 409: ["delivery_not_dead"] },
  }),
  retryQueue: operation({
    method: "GET",
    path: "/api/v1/retry-queue",
    summary: "Lists failed deliveries by their next attempt",
    permission: reading,
    query: listQuery({ tenant: tenantFilter, endpoint: endpointFilter }),
    answer: { status: 200, schema: page(delivery) },
  }),
};
