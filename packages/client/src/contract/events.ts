// Events: facts that were published, and publishing them.
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
    id: z.string().optional().describe("What its maker knows it by, together with `source`."),
    source: z.string().optional().describe("Where it was made: a URI reference."),
    type: z.string().optional().describe("Where it is no type of ours, such as `com.Example.Order-Paid`."),
    time: z.string().optional().describe("As its maker wrote it."),
    datacontenttype: z.string().optional().describe("Media type of its data."),
    dataschema: z.string().optional().describe("Where its data is described: a URI."),
    extensions: z
      .record(z.string(), z.union([z.string(), z.int(), z.boolean()]))
      .optional()
      .describe("Its other attributes, by their names."),
    encoding: z
      .enum(["text", "base64", "none"])
      .optional()
      .describe("`data` is a string that is the text, or its bytes in base64; null where there is no data."),
  })
  .meta({ id: "EventAttributes" });

export const event = z
  .object({
    id: eventId,
    tenant: tenantId,
    type: eventType,
    api_version: z.string().describe("Version of the data, as published; `1` unless told."),
    subject: z.string().nullable().describe("What it is about, as published; null without one."),
    sequence: z.int().nullable().describe("1, 2, 3 … within its tenant and subject; null without a subject."),
    data: z
      .unknown()
      .describe("Byte for byte as published; what the catalogue hides is masked without payloads:read."),
    created_at: time.describe("When it was recorded, in UTC."),
    attributes: attributes
      .nullable()
      .describe("What it brought along when it came in as a CloudEvent; null for events published our way."),
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
    detail: z.string().describe("A sentence; nothing of the event's data is in it."),
    pointer: z.string().nullable().describe("Of `filter`: to the first condition that does not hold."),
    settings_changed: z.boolean().describe("It was changed since; the reason is about its settings of now."),
  })
  .meta({ id: "NotMatched" });
export type NotMatched = z.output<typeof notMatched>;

const eventDetail = event
  .extend({
    deliveries: z.array(delivery).describe("One for each endpoint that wanted it; those of its batches too."),
    batches: z
      .array(
        z
          .object({
            endpoint_id: endpointId,
            event_id: eventId
              .nullable()
              .describe("The event that the batch is; null while this one waits for it."),
            delivery_id: deliveryId.nullable().describe("The batch's delivery; null while there is none."),
          })
          .meta({ id: "EventBatch" }),
      )
      .describe(
        "Of endpoints that take batches: the one it went in, one more for each time it was sent again.",
      ),
    not_matched: z.array(notMatched).describe("The tenant's other endpoints, and why they have none."),
    previous: eventId
      .nullable()
      .describe(
        "Id of the event before it in its subject; null without one, and when it is not among the 2000 before it of the tenant.",
      ),
  })
  .meta({ id: "EventDetail" });
export type EventDetail = z.output<typeof eventDetail>;

const eventInput = z
  .strictObject({
    tenant: tenantId,
    type: eventType,
    data: z.unknown().describe("Any JSON, at most 256 KB; delivered byte for byte."),
    subject: z
      .string()
      .nullable()
      .optional()
      .meta({
        description:
          "What it is about, such as an order's id. Its events are numbered, and delivered in order where an endpoint asks for that.",
        minLength: 1,
        maxLength: 256,
        examples: ["order-17"],
      }),
    api_version: z.string().nullable().optional().meta({
      description:
        "Version of the data: 1 to 32 of `A-Z a-z 0-9 _ . -`. The catalogue's schema of this version is what it is checked against.",
      pattern: "^[A-Za-z0-9_.-]{1,32}$",
      default: "1",
    }),
    idempotency_key: z.string().nullable().optional().meta({
      description:
        "Publishing again with the same key and content makes nothing and answers with the first event's id; remembered for 30 days unless the deployment says otherwise.",
      minLength: 1,
      maxLength: 256,
    }),
  })
  .meta({ id: "EventInput" });

const userEventInput = eventInput
  .omit({ tenant: true })
  .extend({ user: userId.describe("For every active tenant that the user is a member of.") })
  .meta({ id: "UserEventInput" });

const published = z
  .object({
    id: eventId,
    sequence: z.int().nullable().describe("1, 2, 3 … within its tenant and subject; null without a subject."),
    duplicate: z.boolean().describe("The idempotency key was known: the id is the first event's."),
    deliveries: z.int().nullable().describe("How many it made; null when they are made a moment later."),
  })
  .meta({ id: "Published" });

const publishedForUser = z
  .object({
    user: userId,
    events: z
      .array(published.extend({ tenant: tenantId }).meta({ id: "PublishedInTenant" }))
      .describe("One for each tenant, by its id."),
  })
  .meta({ id: "PublishedForUser" });

const attributeText = z.string().min(1);

const cloudEvent = z
  .looseObject({
    specversion: z.literal("1.0").describe("Version of the specification."),
    id: attributeText.describe("What its maker knows it by. With `source` it is the idempotency key."),
    source: attributeText.describe("Where it was made: a URI reference."),
    type: attributeText.describe(
      "What happened. Endpoints subscribe to it in lower-case words, so `com.Example.Order-Paid` is `com.example.order_paid` to them.",
    ),
    subject: attributeText.nullable().optional().describe("What it is about, at most 256 characters."),
    time: z.string().nullable().optional().describe("When it happened, as RFC 3339 has it."),
    datacontenttype: z.string().nullable().optional().describe("Media type of the data; JSON unless told."),
    dataschema: z.string().nullable().optional().describe("Where its data is described: a URI."),
    tenantid: z
      .string()
      .nullable()
      .optional()
      .describe("Whose it is, where neither the URL nor the key says so."),
    data: z
      .unknown()
      .optional()
      .describe("JSON, or a string where `datacontenttype` is not JSON; at most 256 KB."),
    data_base64: z.string().nullable().optional().describe("Instead of `data`: its bytes in base64."),
  })
  .meta({ id: "CloudEvent", description: "A CloudEvent 1.0; other attributes are its extensions." });

const publishHeaders = z.object({
  "Idempotency-Key": z
    .string()
    .optional()
    .meta({
      description:
        "`idempotency_key` of a single event as a header, 1 to 256 characters, with or without quotes. When the key was known, the answer has the header `Idempotency-Replayed: true`.",
      minLength: 1,
      maxLength: 256,
      examples: ["order-17-paid"],
    }),
  traceparent: z
    .string()
    .optional()
    .meta({
      description:
        "W3C trace context: the deliveries join this trace and pass it on. One that cannot be read is passed over.",
      examples: ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
    }),
});

const reading: Permission = { scopes: ["deliveries:read"], reach: "tenant" };

export const events = {
  publish: operation({
    method: "POST",
    path: "/api/v1/events",
    summary: "Publishes an event, or up to 500 of them; answers when they are durable",
    remark:
      "Also takes CloudEvents 1.0, structured and in batches by the content type, in binary mode by their `ce-*` headers; their tenant is `?tenant=`, that of the key, or their attribute `tenantid`.",
    permission: { scopes: ["events:publish"], reach: "tenant" },
    query: z.object({
      tenant: tenantId
        .optional()
        .describe(
          "Of CloudEvents: whose they are. Without it, that of the key, or of the attribute `tenantid` of each.",
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
    summary: "Shows an event with its deliveries, and why other endpoints have none",
    permission: reading,
    answer: { status: 200, schema: eventDetail },
    refusals: { 404: ["event_not_found"] },
  }),
  resend: operation({
    method: "POST",
    path: "/api/v1/events/{event}/resend",
    summary: "Sends an event to an endpoint again; where that takes batches, in the next one",
    permission: { scopes: ["deliveries:retry"], reach: "tenant" },
    body: z.strictObject({ endpoint: endpointId }),
    answer: {
      status: 202,
      schema: z
        .object({
          delivery_id: deliveryId
            .nullable()
            .describe("Of the event and the endpoint; null where it waits for its batch."),
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
