// Published events, the operation that publishes them, and decisions about those that the catalogue rejected.
import { z } from "zod";
import { cannotSend, delivery } from "./deliveries.ts";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

const attributes = s.component("EventAttributes", {
  id: s.optionalText("Id that the producer gave it. Unique together with `source`."),
  source: s.optionalText("URI reference of the producer."),
  type: s.optionalText("Original type if it is not a valid Posthorn type, such as `com.Example.Order-Paid`."),
  time: s.optionalText("Time as given by the producer."),
  datacontenttype: s.optionalText("Media type of the data."),
  dataschema: s.optionalText("URI of the schema of the data."),
  extensions: s.optional(
    z.record(z.string(), z.union([z.string(), z.int(), z.boolean()])),
    "Other attributes by name.",
  ),
  encoding: s.optional(
    z.enum(["text", "base64", "none"]),
    "Encoding of `data` if it is not JSON: `text`, `base64`, or `none` if there is no data.",
  ),
});

const rejection = s.component("EventRejection", {
  code: s.choice(
    ["invalid_event", "event_too_complex", "payload_too_large"],
    "The error that publishing it through the API would have returned. `payload_too_large`: it has no data and cannot be released.",
  ),
  pointer: s.text("JSON Pointer into the event, such as `/data/amount`."),
  message: s.text("What the catalogue does not accept, without any data of the event."),
  rejected_at: s.time.describe("When it was rejected, in UTC."),
  discarded_at: s.nullableTime("When it was discarded, in UTC. Null if it was not."),
});

export const event = s.component("Event", {
  id: s.eventId,
  tenant: s.tenantId,
  type: s.eventType,
  api_version: s.text("Version of the data."),
  subject: s.nullableText("Subject of the event. Null without one."),
  sequence: s.nullableInt("Number within its tenant and subject, starting at 1. Null without a subject."),
  data: z
    .unknown()
    .describe(
      "The data, byte for byte as published. Paths that the catalogue redacts are redacted without payloads:read.",
    ),
  created_at: s.time.describe("When it was recorded, in UTC."),
  attributes: s.nullable(
    attributes,
    "Attributes of an event published as a CloudEvent. Null for other events.",
  ),
  rejection: s.nullable(
    rejection,
    "Why the catalogue rejected an event published from SQL. Null for accepted and released events.",
  ),
  edited_from: s.editedFrom,
});
export type Event = z.output<typeof event>;

const outcome = s.component("EventOutcome", {
  state: s.choice(
    ["delivered", "waiting", "failed", "dead", "unmatched"],
    "The worst of its deliveries. `delivered`: all succeeded. `waiting`: some were not attempted yet. `failed`: some failed and are retried. `dead`: some failed for good. `unmatched`: no endpoint receives it.",
  ),
  deliveries: s.int("Its deliveries, one per endpoint: the sum of the following four."),
  delivered: s.int("Deliveries that succeeded."),
  failed: s.int("Deliveries that failed and are retried."),
  dead: s.int("Deliveries that failed for good."),
  waiting: s.int("Deliveries that were not attempted yet, are in flight or wait for a batch."),
});
export type EventOutcome = z.output<typeof outcome>;

const listedEvent = s.component("ListedEvent", {
  ...event.shape,
  // left out on request; "unknown" includes that
  data: event.shape.data.optional() as z.ZodType<unknown>,
  outcome: s.nullable(
    outcome,
    "The outcome of its deliveries. Null for an event with thousands of deliveries.",
  ),
});
export type ListedEvent = z.output<typeof listedEvent>;

const decided = s.component("DecidedEvent", {
  id: s.eventId,
  rejection: s.nullable(rejection, "Null if the event was released."),
});

const rejectedDecision = s.inputComponent("RejectedDecision", {
  tenant: s.optional(s.tenantId, "Only of this tenant. Defaults to all, or to the tenant of the key."),
  type: s.optional(s.eventType, "Only of this event type. Defaults to all."),
  subject: s.optionalText("Only of this subject. Defaults to all."),
  created_after: s.createdAfter,
  created_before: s.createdBefore,
  rejected_before: s.rejectedBefore,
  cursor: s.optionalText("`next_cursor` of the previous call with the same filter."),
  dry_run: s.optionalFlag("Count the events without deciding about any."),
});

const nextCursor = s.nullableText(
  "`cursor` of the next call, which decides about further ones. Null if there are none.",
);
const releasedEvents = s.component("ReleasedEvents", {
  released: s.int("How many this call released, at most 10,000."),
  next_cursor: nextCursor,
});
const discardedEvents = s.component("DiscardedEvents", {
  discarded: s.int("How many this call discarded, at most 10,000."),
  next_cursor: nextCursor,
});

const rejectedCount = s.component("RejectedCount", {
  dry_run: z.literal(true).describe("Always true: nothing was decided."),
  count: s.int("Number of rejected events that match."),
  is_exact: s.flag("False if `count` is a lower bound."),
  rejected_before: s.time.describe(
    "Pass it as `rejected_before` when deciding, so that events that were not counted are left.",
  ),
});
export type RejectedCount = z.output<typeof rejectedCount>;

const NOT_MATCHED = [
  "type",
  "filter",
  "filter_redacted",
  "created_later",
  "deleted",
  "test",
  "batch",
  "about_itself",
  "waiting",
  "rejected",
  "tenant_inactive",
  "lease_expired",
  "dropped",
  "matches_now",
] as const;

const notMatched = s.component("NotMatched", {
  endpoint_id: s.endpointId,
  reason: s.choice(NOT_MATCHED, "Why this endpoint has no delivery of the event."),
  detail: s.text("Explanation without any data of the event."),
  pointer: s.nullableText(
    "JSON Pointer to the first condition that does not match, for the reason `filter`. Null otherwise.",
  ),
  settings_changed: s.flag(
    "True if the settings were changed since. The reason refers to the current settings.",
  ),
});
export type NotMatched = z.output<typeof notMatched>;

const eventDetail = s.component("EventDetail", {
  ...event.shape,
  deliveries: s.list(delivery, "Deliveries of the event, including those of its batches."),
  batches: s.list(
    s.component("EventBatch", {
      endpoint_id: s.endpointId,
      event_id: s.nullable(
        s.eventId,
        "Id of the event that carries the batch. Null while the event waits for its batch.",
      ),
      delivery_id: s.nullable(s.deliveryId, "Delivery of the batch. Null while there is none."),
    }),
    "Batches that contain the event, with one more for each resend.",
  ),
  not_matched: s.list(notMatched, "Endpoints of the tenant without a delivery, and why."),
  previous: s.nullable(
    s.eventId,
    "Id of the previous event of the subject. Null if there is none among the tenant's previous 2000 events.",
  ),
});
export type EventDetail = z.output<typeof eventDetail>;

export const eventInput = s.inputComponent("EventInput", {
  tenant: s.tenantId,
  type: s.eventType,
  data: z.unknown().describe("Any JSON, at most 256 KB. It is delivered byte for byte."),
  subject: s.nullishText(
    "Subject of the event, such as the id of an order. Events of a subject are numbered, and delivered in order to endpoints that ask for it.",
    { minLength: 1, maxLength: 256, examples: ["order-17"] },
  ),
  api_version: s.nullishText(
    "Version of the data: 1 to 32 of `A-Z a-z 0-9 _ . -`. The data is checked against the schema of this version. The default is that of the deployment, `1` unless configured.",
    { pattern: "^[A-Za-z0-9_.-]{1,32}$" },
  ),
  idempotency_key: s.nullishText(
    "Publishing again with the same key and content creates nothing and returns the id of the first event. Keys are kept for 30 days by default.",
    { minLength: 1, maxLength: 256 },
  ),
});

export const userEventInput = eventInput
  .omit({ tenant: true })
  .extend({ user: s.userId.describe("Publishes for every active tenant of this user.") })
  .meta({ id: "UserEventInput" });

const published = s.component("Published", {
  id: s.eventId,
  sequence: s.nullableInt("Number within its tenant and subject, starting at 1. Null without a subject."),
  duplicate: s.flag("True if the idempotency key was used before. The id is that of the first event."),
  deliveries: s.nullableInt("Number of deliveries created. Null if they are created later."),
  dropped: z
    .literal(true)
    .optional()
    .describe("True if endpoints would have received the event, but delivery is off and events are dropped."),
});

const publishedForUser = s.component("PublishedForUser", {
  user: s.userId,
  events: s.list(
    published.extend({ tenant: s.tenantId }).meta({ id: "PublishedInTenant" }),
    "One event per tenant, sorted by tenant id.",
  ),
});

const attributeText = z.string().min(1);

const cloudEvent = z
  .looseObject({
    specversion: z.literal("1.0").describe("Version of the specification."),
    id: attributeText.describe(
      "Id that the producer gave it. Together with `source` it is the idempotency key.",
    ),
    source: attributeText.describe("URI reference of the producer."),
    type: attributeText.describe(
      "Type of the event. It is normalised for subscriptions: `com.Example.Order-Paid` becomes `com.example.order_paid`.",
    ),
    subject: attributeText.nullable().optional().describe("Subject of the event, at most 256 characters."),
    time: s.nullishText("When it happened, in RFC 3339 format."),
    datacontenttype: s.nullishText("Media type of the data. Defaults to JSON."),
    dataschema: s.nullishText("URI of the schema of the data."),
    tenantid: s.nullishText("Tenant of the event, if neither the URL nor the key determines it."),
    data: s.optional(z.unknown(), "JSON, or a string if `datacontenttype` is not JSON. At most 256 KB."),
    data_base64: s.nullishText("Bytes of the data in base64, instead of `data`."),
  })
  .meta({ id: "CloudEvent", description: "A CloudEvent 1.0. Other attributes are extensions." });

const publishHeaders = z.object({
  "Idempotency-Key": s.optionalText(
    "`idempotency_key` of a single event as a header, 1 to 256 characters, with or without quotes. If the key was used before, the response has the header `Idempotency-Replayed: true`.",
    { minLength: 1, maxLength: 256, examples: ["order-17-paid"] },
  ),
  traceparent: s.optionalText(
    "W3C trace context. The deliveries continue this trace. An invalid value is ignored.",
    { examples: ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"] },
  ),
});

export const eventFilters = {
  tenant: s.tenantFilter,
  type: s.typeFilter,
  subject: s.subjectFilter,
  state: s.optional(
    z.enum(["rejected"]),
    "`rejected`: only events that the catalogue rejected and nobody has released or discarded.",
  ),
  created_after: s.createdAfter,
  created_before: s.createdBefore,
};

const path = "/api/v1/events/{event}";
/** The tenant's publishers decide about its events, not its receivers. */
const publishing: Permission = { scopes: ["events:publish"], reach: "tenant" };
const reading: Permission = { scopes: ["deliveries:read"], reach: "tenant" };

/** 256 KB of JSON, of which every character may be escaped. */
const MAX_EDITED_BODY_BYTES = (2 * 256 + 1) * 1024;

const IN_CALLS =
  "Decides about events that were neither released nor discarded, at most 10,000 per call, in short transactions. Repeat the call with `cursor` until `next_cursor` is null.";

export const events = {
  publish: operation("POST", "/api/v1/events", {
    summary: "Publishes an event, or up to 500. Returns when they are durable",
    remark:
      "Also accepts CloudEvents 1.0: structured mode and batches by content type, binary mode by `ce-*` headers. Their tenant is `?tenant=`, the tenant of the key, or the attribute `tenantid`.",
    permission: publishing,
    query: z.object({
      tenant: s.optional(
        s.tenantId,
        "Tenant of CloudEvents. Defaults to the tenant of the key, or to the attribute `tenantid`.",
      ),
    }),
    headers: publishHeaders,
    body: z.union([eventInput, userEventInput, z.array(eventInput).meta({ minItems: 1, maxItems: 500 })]),
    otherBodies: {
      "application/cloudevents+json": cloudEvent,
      "application/cloudevents-batch+json": z.array(cloudEvent).meta({ maxItems: 500 }),
    },
    response: { status: 202, schema: z.union([published, publishedForUser, z.array(published)]) },
    errors: {
      413: ["payload_too_large"],
      422: ["invalid_event", "event_too_complex", "idempotency_conflict"],
    },
  }),
  list: operation("GET", "/api/v1/events", {
    summary: "Lists events, newest first",
    permission: reading,
    query: s.listQuery({
      ...eventFilters,
      data: s.optional(z.enum(["omit"]), "`omit`: without `data`. Defaults to the complete events."),
    }),
    response: { status: 200, schema: s.page(listedEvent) },
  }),
  get: operation("GET", path, {
    summary: "Returns an event with its deliveries, and why other endpoints have none",
    permission: reading,
    response: { status: 200, schema: eventDetail },
    errors: { 404: ["event_not_found"] },
  }),
  release: operation("POST", `${path}/release`, {
    summary: "Delivers an event that the catalogue rejected, as it is, even if it was discarded",
    permission: publishing,
    response: { status: 200, schema: decided },
    errors: {
      404: ["event_not_found"],
      409: ["event_not_rejected", "delivery_drops"],
      413: ["payload_too_large"],
    },
  }),
  discard: operation("POST", `${path}/discard`, {
    summary: "Decides that a rejected event is not delivered",
    permission: publishing,
    response: { status: 200, schema: decided },
    errors: { 404: ["event_not_found"], 409: ["event_not_rejected"] },
  }),
  releaseRejected: operation("POST", "/api/v1/rejected-events/release", {
    summary: "Delivers the rejected events that match a filter, as they are, or counts them",
    remark: IN_CALLS,
    permission: publishing,
    body: rejectedDecision,
    response: { status: 200, schema: z.union([releasedEvents, rejectedCount]) },
    errors: { 409: ["delivery_drops"], 422: ["invalid_query"] },
  }),
  discardRejected: operation("POST", "/api/v1/rejected-events/discard", {
    summary: "Decides that the rejected events that match a filter are not delivered, or counts them",
    remark: IN_CALLS,
    permission: publishing,
    body: rejectedDecision,
    response: { status: 200, schema: z.union([discardedEvents, rejectedCount]) },
    errors: { 422: ["invalid_query"] },
  }),
  resendEdited: operation("POST", `${path}/resend-edited`, {
    summary: "Sends a copy of an event with edited data to one endpoint, marked as edited",
    remark:
      "The copy is a new event with the same type, version, subject and tenant, and without a sequence. Its `edited_from` and the header `X-Webhook-Edited-From` name the original. The data must match the schema of the type; pointers of errors are into the data. If the catalogue redacts parts of the event, it also needs payloads:read.",
    permission: { scopes: ["webhooks:manage"], reach: "tenant" },
    maxBodyBytes: MAX_EDITED_BODY_BYTES,
    body: s.inputComponent("EditedEventInput", {
      endpoint: s.endpointId,
      data_json: s.text("The edited data as JSON text, at most 256 KB. It is delivered byte for byte."),
    }),
    response: {
      status: 202,
      schema: s.component("EditedEvent", { event_id: s.eventId, delivery_id: s.deliveryId }),
    },
    errors: {
      404: ["event_not_found", "endpoint_not_found"],
      409: [
        ...cannotSend.filter((code) => code !== "delivery_in_flight"),
        "endpoint_is_subscription",
        "event_rejected",
        "event_redacted",
      ],
      413: ["payload_too_large"],
      422: ["invalid_event", "event_too_complex"],
    },
  }),
  resend: operation("POST", `${path}/resend`, {
    summary: "Sends an event to an endpoint again, in the next batch if the endpoint uses batches",
    permission: { scopes: ["deliveries:retry"], reach: "tenant" },
    body: z.strictObject({ endpoint: s.endpointId }),
    response: {
      status: 202,
      schema: s.component("Resent", {
        delivery_id: s.nullable(s.deliveryId, "Id of the delivery. Null if the event waits for its batch."),
      }),
    },
    errors: {
      404: ["event_not_found", "endpoint_not_found", "delivery_not_found"],
      409: [...cannotSend, "event_rejected"],
    },
  }),
};
