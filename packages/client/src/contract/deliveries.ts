// Deliveries, one per event and endpoint, with their attempts.
import { WAIT_REASONS } from "@posthorn/wire";
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

const state = s.choice(
  ["pending", "in_flight", "success", "failed", "dead"],
  "`pending`: waiting for the first attempt, or queued again by a manual retry or a replay. `in_flight`: claimed by a worker, which sends it, or holds it in memory for what `waits_for` says. `success`: the receiver returned 2xx. `failed`: waiting for a retry. `dead`: failed for good, cancelled or discarded.",
);

const waitsFor = s.component("WaitsFor", {
  reason: s.choice(
    WAIT_REASONS,
    "`retry_delay`: the time of its next attempt. `circuit`: the endpoint failed too often; until the next probe, or without a time until the probe in flight succeeds. `rate_limit`: the endpoint's rate limit, or with a time a pause that the receiver asked for. `cap`: the endpoint's limit of attempts in flight. `ordering`: an earlier delivery of its subject. `handshake`: the receiver has not agreed to receive webhooks. `endpoint_disabled`: the endpoint is disabled. `tenant_off`: the tenant is inactive. `sending_off`: delivery is off for the whole installation.",
  ),
  until: s.nullableTime("When the wait ends. Null if it is not known."),
  blocked_by: s.nullable(
    s.deliveryId,
    "For `ordering`: the earlier delivery that has to end first. If it is dead, it holds its subject until it is retried or deleted. Null for other reasons.",
  ),
  remedy: s.text("What ends the wait, as a sentence."),
});
export type WaitsFor = z.output<typeof waitsFor>;

export const delivery = s.component("Delivery", {
  id: s.deliveryId,
  event_id: s.eventId,
  endpoint_id: s.endpointId,
  endpoint_name: s.text("Name of the endpoint, or the host of its URL."),
  endpoint_url: s.text("URL of the endpoint without its query."),
  tenant: s.tenantId,
  event_type: s.eventType,
  subject: s.nullableText("Subject of the event. Null without one."),
  sequence: s.nullableInt("Sequence of the event within the subject. Null without a subject."),
  edited_from: s.editedFrom,
  state,
  attempt_count: s.int("Number of HTTP requests so far."),
  next_retry_at: s.nullableTime(
    "When a `failed` delivery is attempted again: `waits_for.until`. Null if it is due, or the time is not known. Never in the past.",
  ),
  dead_reason: s.nullableText(
    "Reason why it is dead: `attempts_exhausted`, `too_old`, `rejected`, `redirect`, `gone`, `blocked_address`, `invalid_request`, `lease_expired`, `endpoint_deleted`, `discarded` or `cancelled`. Null unless it is dead.",
  ),
  last_error: s.nullableText(
    "Why its last attempt failed: `HTTP 500`, or the attempt's `error` such as `timeout`. Null if it did not, or there was none.",
  ),
  replay_count: s.int("How often a replay queued it again. Manual retries do not count."),
  created_at: s.time.describe("When the event was published, in UTC."),
  delivered_at: s.nullableTime("When it succeeded. Null unless it did."),
  dead_at: s.nullableTime("When it became dead. Null unless it is dead."),
  waits_for: s.nullable(
    waitsFor,
    "What a delivery waits for that is neither finished nor being sent. Null if it is due, and sent as soon as a worker is free. The endpoint's own limits are reported after a second of waiting.",
  ),
});
export type Delivery = z.output<typeof delivery>;

export const attempt = s.component("Attempt", {
  number: s.int("Number of the attempt, starting at 1."),
  started_at: s.nullableTime("When it started. Null if the worker died: it may or may not have been sent."),
  duration_ms: s.nullableInt("Duration in milliseconds. Null if the worker died."),
  status_code: s.nullableInt("HTTP status of the response. Null without a response."),
  error: s.nullableText("Why there was no response, such as `timeout`. Null with a response."),
  response_body: s.nullableText(
    "First 1 KB of the response, or a description of the error. Redacted without payloads:read if the catalogue redacts parts of the event.",
  ),
  next_retry_at: s.nullableTime("When the next attempt was scheduled. Null if there was none."),
  trigger: s.choice(
    ["event", "retry", "manual", "replay", "test", "edited"],
    "Cause of the attempt: a new event, the retry policy, a manual retry, a replay, a test, or an edited copy of an event.",
  ),
  worker: s.int("Id of the worker that sent it."),
  phases: s.group(
    "Duration of each phase in milliseconds. With a response, all but `queue_ms` add up to `duration_ms`.",
    {
      queue_ms: s.nullableInt("From the due time to the start. Null for a manual retry or a replay."),
      connect_ms: s.nullableInt(
        "Waiting for a connection, name resolution and TCP. Null on a reused connection.",
      ),
      tls_ms: s.nullableInt("TLS handshake. Null on a reused connection and over http."),
      first_byte_ms: s.nullableInt("From the request to the response headers. Null without a response."),
      body_ms: s.nullableInt("From the headers to the end of the body. Null without a response."),
    },
  ),
});
export type Attempt = z.output<typeof attempt>;

const deliveryDetail = s.component("DeliveryDetail", {
  ...delivery.shape,
  attempts: s.list(attempt, "The newest 250 attempts, oldest first."),
  members: s.nullable(
    z.array(s.eventId),
    "Ids of the events in a batch, in order. Null for other deliveries.",
  ),
});
export type DeliveryDetail = z.output<typeof deliveryDetail>;

const deliveryRequest = s.component("DeliveryRequest", {
  attempt: s.int("Number of the attempt."),
  method: z.literal("POST").describe("Always `POST`."),
  url: s.text("The URL. Its query is redacted without webhooks:manage."),
  headers: s.textMap(
    "All headers except `Host`, `Connection` and `Content-Length`. Custom headers are redacted without webhooks:manage, signatures without webhooks:manage and payloads:read.",
  ),
  body: s.text("The body. Paths that the catalogue redacts are redacted without payloads:read."),
  signed_at: s.nullableTime("The signed timestamp. Null if the worker died."),
  is_fresh: s.flag("True if it was signed for this response, so that receivers accept it."),
  is_exact: s.flag("True if it is identical to the bytes sent, except for redacted parts."),
  differences: s.list(
    z.object({
      reason: s.choice(
        ["settings_changed", "time_unknown", "traced", "freshly_signed"],
        "Why it may differ from the request sent.",
      ),
      detail: s.text("Explanation of the reason."),
    }),
    "Why it is not exact. Empty if it is.",
  ),
  redacted_parts: s.list(z.string(), "Redacted parts: `url`, `body` and names of headers."),
});
export type DeliveryRequest = z.output<typeof deliveryRequest>;

const deadLetterDeletion = s.inputComponent("DeadLetterDeletion", {
  tenant: s.optional(s.tenantId, "Only of this tenant. Defaults to all, or to the tenant of the key."),
  endpoint: s.optional(s.endpointId, "Only of this endpoint. Defaults to all."),
  type: s.optional(s.eventType, "Only of this event type. Defaults to all."),
  reason: s.optionalText("Only with this `dead_reason`, such as `attempts_exhausted`. Defaults to any."),
  created_after: s.createdAfter,
  created_before: s.createdBefore,
  dead_before: s.deadBefore,
  cursor: s.optionalText("`next_cursor` of the previous call with the same filter."),
  dry_run: s.optionalFlag("Count the dead letters without deleting any."),
});

export const deletedDeadLetters = s.component("DeletedDeadLetters", {
  deleted: s.int("How many this call deleted, at most 10,000."),
  next_cursor: s.nullableText(
    "`cursor` of the next call, which deletes further ones. Null if all were deleted.",
  ),
});

export type DeletedDeadLetters = z.output<typeof deletedDeadLetters>;

export const deadLetterCount = s.component("DeadLetterCount", {
  dry_run: z.literal(true).describe("Always true: nothing was deleted."),
  count: s.int("Number of dead letters that would be deleted."),
  is_exact: s.flag("False if `count` is a lower bound."),
  dead_before: s.time.describe(
    "Pass it as `dead_before` when deleting, so that dead letters that were not counted are kept.",
  ),
});
export type DeadLetterCount = z.output<typeof deadLetterCount>;

const ofEndpoint = {
  state: s.optional(state, "Only deliveries in this state."),
  type: s.typeFilter,
  reason: s.reasonFilter,
  created_after: s.createdAfter,
  created_before: s.createdBefore,
};
const ofTenant = { endpoint: s.endpointFilter, ...ofEndpoint };
export const deliveryFilters = { tenant: s.tenantFilter, ...ofTenant };

const path = "/api/v1/deliveries/{delivery}";
const reading: Permission = { scopes: ["deliveries:read"], reach: "tenant" };
const retrying: Permission = { scopes: ["deliveries:retry"], reach: "tenant" };

/** Error codes if a delivery cannot be sent now. */
export const cannotSend = [
  "delivery_in_flight",
  "endpoint_disabled",
  "endpoint_not_agreed",
  "endpoint_deleted",
  "tenant_inactive",
] as const;

export const deliveries = {
  list: operation("GET", "/api/v1/deliveries", {
    summary: "Lists deliveries, newest first",
    permission: reading,
    query: s.listQuery(deliveryFilters),
    response: { status: 200, schema: s.page(delivery) },
  }),
  listOfTenant: operation("GET", "/api/v1/tenants/{tenant}/deliveries", {
    summary: "Lists a tenant's deliveries, newest first",
    permission: reading,
    query: s.listQuery(ofTenant),
    response: { status: 200, schema: s.page(delivery) },
    errors: { 404: ["tenant_not_found"] },
  }),
  listOfEndpoint: operation("GET", "/api/v1/tenants/{tenant}/endpoints/{endpoint}/deliveries", {
    summary: "Lists an endpoint's deliveries, newest first",
    permission: reading,
    query: s.listQuery(ofEndpoint),
    response: { status: 200, schema: s.page(delivery) },
    errors: { 404: ["endpoint_not_found"] },
  }),
  get: operation("GET", path, {
    summary: "Returns a delivery with its attempts",
    permission: reading,
    response: { status: 200, schema: deliveryDetail },
    errors: { 404: ["delivery_not_found"] },
  }),
  request: operation("GET", `${path}/request`, {
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
    response: { status: 200, schema: deliveryRequest },
    errors: {
      404: ["delivery_not_found", "attempt_not_found", "event_not_found"],
      409: ["endpoint_deleted", "request_not_built"],
    },
  }),
  retry: operation("POST", `${path}/retry`, {
    summary: "Retries a delivery now and restarts its retry policy",
    permission: retrying,
    response: { status: 202, schema: delivery },
    errors: { 404: ["delivery_not_found"], 409: cannotSend },
  }),
  cancel: operation("POST", `${path}/cancel`, {
    summary: "Cancels a delivery: it becomes dead with the reason `cancelled`",
    permission: retrying,
    response: { status: 200, schema: delivery },
    errors: { 404: ["delivery_not_found"], 409: ["delivery_in_flight", "delivery_finished"] },
  }),
  delete: operation("DELETE", path, {
    summary: "Deletes a dead letter permanently",
    permission: retrying,
    response: { status: 204, schema: null },
    errors: { 404: ["delivery_not_found"], 409: ["delivery_not_dead"] },
  }),
  deleteDead: operation("POST", "/api/v1/dead-letters/delete", {
    summary: "Deletes the dead letters that match a filter permanently, or counts them",
    remark:
      "Deletes at most 10,000 per call, in short transactions. Repeat the call with `cursor` until `next_cursor` is null.",
    permission: retrying,
    body: deadLetterDeletion,
    response: { status: 200, schema: z.union([deletedDeadLetters, deadLetterCount]) },
    errors: { 422: ["invalid_query"] },
  }),
  retryQueue: operation("GET", "/api/v1/retry-queue", {
    summary: "Lists failed deliveries by the time that their retry is scheduled for",
    permission: reading,
    query: s.listQuery({ tenant: s.tenantFilter, endpoint: s.endpointFilter }),
    response: { status: 200, schema: s.page(delivery) },
  }),
};
