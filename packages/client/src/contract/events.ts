// Published events, and the operation that publishes them.
import { z } from "zod";
import { delivery } from "./deliveries.ts";
import { operation, type Permission } from "./operation.ts";
import {
  createdAfter,
  createdBefore,
  deliveryId,
  endpointId,
  eventId,
  eventType,
  listQuery,
  page,
  subjectFilter,
  tenantFilter,
  tenantId,
  time,
  typeFilter,
  userId,
} from "./parts.ts";

const attributes = z
  .object({
    id: z.string().optional().describe("Id that the producer gave it. Unique together with `source`."),
    source: z.string().optional().describe("URI reference of the producer."),
    type: z
      .string()
      .optional()
      .describe("Original type if it is not a valid Posthorn type, such as `com.Example.Order-Paid`."),
    time: z.string().optional().describe("Time as given by the producer."),
    datacontenttype: z.string().optional().describe("Media type of the data."),
    dataschema: z.string().optional().describe("URI of the schema of the data."),
    extensions: z
      .record(z.string(), z.union([z.string(), z.int(), z.boolean()]))
      .optional()
      .describe("Other attributes by name."),
    encoding: z
      .enum(["text", "base64", "none"])
      .optional()
      .describe("Encoding of `data` if it is not JSON: `text`, `base64`, or `none` if there is no data."),
  })
  .meta({ id: "EventAttributes" });

export const event = z
  .object({
    id: eventId,
    tenant: tenantId,
    type: eventType,
    api_version: z.string().describe("Version of the data. Defaults to `1`."),
    subject: z.string().nullable().describe("Subject of the event. Null without one."),
    sequence: z
      .int()
      .nullable()
      .describe("Number within its tenant and subject, starting at 1. Null without a subject."),
    data: z
      .unknown()
      .describe(
        "The data, byte for byte as published. Paths that the catalogue redacts are redacted without payloads:read.",
      ),
    created_at: time.describe("When it was recorded, in UTC."),
    attributes: attributes
      .nullable()
      .describe("Attributes of an event published as a CloudEvent. Null for other events."),
  })
  .meta({ id: "Event" });
export type Event = z.output<typeof event>;

const NOT_MATCHED = [
  "type",
  "filter",
  "filter_hidden",
  "created_later",
  "deleted",
  "test",
  "batch",
  "about_itself",
  "waiting",
  "tenant_inactive",
  "lease_ended",
  "matches_now",
] as const;

const notMatched = z
  .object({
    endpoint_id: endpointId,
    reason: z.enum(NOT_MATCHED).describe("Why this endpoint has no delivery of the event."),
    detail: z.string().describe("Explanation without any data of the event."),
    pointer: z
      .string()
      .nullable()
      .describe(
        "JSON Pointer to the first condition that does not match, for the reason `filter`. Null otherwise.",
      ),
    settings_changed: z
      .boolean()
      .describe("True if the settings were changed since. The reason refers to the current settings."),
  })
  .meta({ id: "NotMatched" });
export type NotMatched = z.output<typeof notMatched>;

const eventDetail = event
  .extend({
    deliveries: z.array(delivery).describe("Deliveries of the event, including those of its batches."),
    batches: z
      .array(
        z
          .object({
            endpoint_id: endpointId,
            event_id: eventId
              .nullable()
              .describe("Id of the event that carries the batch. Null while the event waits for its batch."),
            delivery_id: deliveryId.nullable().describe("Delivery of the batch. Null while there is none."),
          })
          .meta({ id: "EventBatch" }),
      )
      .describe("Batches that contain the event, with one more for each resend."),
    not_matched: z.array(notMatched).describe("Endpoints of the tenant without a delivery, and why."),
    previous: eventId
      .nullable()
      .describe(
        "Id of the previous event of the subject. Null if there is none among the tenant's previous 2000 events.",
      ),
  })
  .meta({ id: "EventDetail" });
export type EventDetail = z.output<typeof eventDetail>;

const eventInput = z
  .strictObject({
    tenant: tenantId,
    type: eventType,
    data: z.unknown().describe("Any JSON, at most 256 KB. It is delivered byte for byte."),
    subject: z
      .string()
      .nullable()
      .optional()
      .meta({
        description:
          "Subject of the event, such as the id of an order. Events of a subject are numbered, and delivered in order to endpoints that ask for it.",
        minLength: 1,
        maxLength: 256,
        examples: ["order-17"],
      }),
    api_version: z.string().nullable().optional().meta({
      description:
        "Version of the data: 1 to 32 of `A-Z a-z 0-9 _ . -`. The data is checked against the schema of this version.",
      pattern: "^[A-Za-z0-9_.-]{1,32}$",
      default: "1",
    }),
    idempotency_key: z.string().nullable().optional().meta({
      description:
        "Publishing again with the same key and content creates nothing and returns the id of the first event. Keys are kept for 30 days by default.",
      minLength: 1,
      maxLength: 256,
    }),
  })
  .meta({ id: "EventInput" });

const userEventInput = eventInput
  .omit({ tenant: true })
  .extend({ user: userId.describe("Publishes for every active tenant of this user.") })
  .meta({ id: "UserEventInput" });

const published = z
  .object({
    id: eventId,
    sequence: z
      .int()
      .nullable()
      .describe("Number within its tenant and subject, starting at 1. Null without a subject."),
    duplicate: z
      .boolean()
      .describe("True if the idempotency key was used before. The id is that of the first event."),
    deliveries: z.int().nullable().describe("Number of deliveries created. Null if they are created later."),
  })
  .meta({ id: "Published" });

const publishedForUser = z
  .object({
    user: userId,
    events: z
      .array(published.extend({ tenant: tenantId }).meta({ id: "PublishedInTenant" }))
      .describe("One event per tenant, sorted by tenant id."),
  })
  .meta({ id: "PublishedForUser" });

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
    time: z.string().nullable().optional().describe("When it happened, in RFC 3339 format."),
    datacontenttype: z.string().nullable().optional().describe("Media type of the data. Defaults to JSON."),
    dataschema: z.string().nullable().optional().describe("URI of the schema of the data."),
    tenantid: z
      .string()
      .nullable()
      .optional()
      .describe("Tenant of the event, if neither the URL nor the key determines it."),
    data: z
      .unknown()
      .optional()
      .describe("JSON, or a string if `datacontenttype` is not JSON. At most 256 KB."),
    data_base64: z.string().nullable().optional().describe("Bytes of the data in base64, instead of `data`."),
  })
  .meta({ id: "CloudEvent", description: "A CloudEvent 1.0. Other attributes are extensions." });

const publishHeaders = z.object({
  "Idempotency-Key": z
    .string()
    .optional()
    .meta({
      description:
        "`idempotency_key` of a single event as a header, 1 to 256 characters, with or without quotes. If the key was used before, the response has the header `Idempotency-Replayed: true`.",
      minLength: 1,
      maxLength: 256,
      examples: ["order-17-paid"],
    }),
  traceparent: z
    .string()
    .optional()
    .meta({
      description: "W3C trace context. The deliveries continue this trace. An invalid value is ignored.",
      examples: ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
    }),
});

const reading: Permission = { scopes: ["deliveries:read"], reach: "tenant" };

export const events = {
  publish: operation({
    method: "POST",
    path: "/api/v1/events",
    summary: "Publishes an event, or up to 500. Returns when they are durable",
    remark:
      "Also accepts CloudEvents 1.0: structured mode and batches by content type, binary mode by `ce-*` headers. Their tenant is `?tenant=`, the tenant of the key, or the attribute `tenantid`.",
    permission: { scopes: ["events:publish"], reach: "tenant" },
    query: z.object({
      tenant: tenantId
        .optional()
        .describe(
          "Tenant of CloudEvents. Defaults to the tenant of the key, or to the attribute `tenantid`.",
        ),
    }),
    headers: publishHeaders,
    body: z.union([eventInput, userEventInput, z.array(eventInput).meta({ minItems: 1, maxItems: 500 })]),
    otherBodies: {
      "application/cloudevents+json": cloudEvent,
      "application/cloudevents-batch+json": z.array(cloudEvent).meta({ maxItems: 500 }),
    },
    answer: { status: 202, schema: z.union([published, publishedForUser, z.array(published)]) },
    refusals: {
      413: ["payload_too_large"],
      422: ["invalid_event", "event_too_complex", "idempotency_conflict"],
    },
  }),
  list: operation({
    method: "GET",
    path: "/api/v1/events",
    summary: "Lists events, newest first",
    permission: reading,
    query: listQuery({
      tenant: tenantFilter,
      type: typeFilter,
      subject: subjectFilter,
      created_after: createdAfter,
      created_before: createdBefore,
    }),
    answer: { status: 200, schema: page(event) },
  }),
  get: operation({
    method: "GET",
    path: "/api/v1/events/{event}",
    summary: "Returns an event with its deliveries, and why other endpoints have none",
    permission: reading,
    answer: { status: 200, schema: eventDetail },
    refusals: { 404: ["event_not_found"] },
  }),
  resend: operation({
    method: "POST",
    path: "/api/v1/events/{event}/resend",
    summary: "Sends an event to an endpoint again, in the next batch if the endpoint uses batches",
    permission: { scopes: ["deliveries:retry"], reach: "tenant" },
    body: z.strictObject({ endpoint: endpointId }),
    answer: {
      status: 202,
      schema: z
        .object({
          delivery_id: deliveryId
            .nullable()
            .describe("Id of the delivery. Null if the event waits for its batch."),
        })
        .meta({ id: "Resent" }),
    },
    refusals: {
      404: ["event_not_found", "endpoint_not_found", "delivery_not_found"],
      409: [
        "delivery_in_flight",
        "endpoint_disabled",
        "endpoint_not_agreed",
        "endpoint_deleted",
        "tenant_inactive",
      ],
    },
  }),
};
