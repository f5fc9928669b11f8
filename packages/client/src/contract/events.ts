// Events: facts that were published, and publishing them.
import { z } from "zod";
import { delivery } from "./deliveries.ts";
import { operation, type Permission } from "./operation.ts";
import {
  endpointId,
  eventId,
  eventType,
  listQuery,
  page,
  tenantId,
  textFilter,
  time,
  timeFilter,
  userId,
} from "./parts.ts";

export const event = z
  .object({
    id: eventId,
    tenant: tenantId,
    type: eventType,
    api_version: z.string(),
    subject: z.string().nullable(),
    sequence: z.int().nullable().describe("1, 2, 3 … within its tenant and subject; null without a subject."),
    data: z
      .unknown()
      .describe("Byte for byte as published; what the catalogue hides is masked without payloads:read."),
    created_at: time,
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
  "about_itself",
  "waiting",
  "tenant_inactive",
  "matches_now",
] as const;

const notMatched = z
  .object({
    endpoint_id: endpointId,
    reason: z.enum(NOT_MATCHED),
    detail: z.string().describe("A sentence; nothing of the event's data is in it."),
    pointer: z.string().nullable().describe("Of `filter`: to the first condition that does not hold."),
    settings_changed: z.boolean().describe("It was changed since; the reason is about its settings of now."),
  })
  .meta({ id: "NotMatched" });
export type NotMatched = z.output<typeof notMatched>;

const eventDetail = event
  .extend({ deliveries: z.array(delivery), not_matched: z.array(notMatched) })
  .meta({ id: "EventDetail" });
export type EventDetail = z.output<typeof eventDetail>;

const eventInput = z
  .strictObject({
    tenant: tenantId,
    type: eventType,
    data: z.unknown(),
    subject: z.string().nullable().optional().meta({ minLength: 1, maxLength: 256 }),
    api_version: z.string().nullable().optional().meta({ pattern: "^[A-Za-z0-9_.-]{1,32}$" }),
    idempotency_key: z.string().nullable().optional().meta({ minLength: 1, maxLength: 256 }),
  })
  .meta({ id: "EventInput" });

const userEventInput = eventInput
  .omit({ tenant: true })
  .extend({ user: userId.describe("For every active tenant that the user is a member of.") })
  .meta({ id: "UserEventInput" });

const published = z
  .object({
    id: eventId,
    sequence: z.int().nullable(),
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

const reading: Permission = { scopes: ["deliveries:read"], reach: "tenant" };

export const events = {
  publish: operation({
    method: "POST",
    path: "/api/v1/events",
    summary: "Publishes an event, or up to 500 of them; answers when they are durable",
    permission: { scopes: ["events:publish"], reach: "tenant" },
    body: z.union([eventInput, userEventInput, z.array(eventInput).meta({ minItems: 1, maxItems: 500 })]),
    answer: { status: 202, schema: z.union([published, publishedForUser, z.array(published)]) },
  }),
  list: operation({
    method: "GET",
    path: "/api/v1/events",
    summary: "Lists events, newest first",
    permission: reading,
    query: listQuery({
      tenant: textFilter,
      type: textFilter,
      subject: textFilter,
      created_after: timeFilter,
      created_before: timeFilter,
    }),
    answer: { status: 200, schema: page(event) },
  }),
  get: operation({
    method: "GET",
    path: "/api/v1/events/{event}",
    summary: "Shows an event with its deliveries, and why other endpoints have none",
    permission: reading,
    answer: { status: 200, schema: eventDetail },
  }),
};
