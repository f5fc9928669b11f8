// The catalogue: what is published, what its data looks like, and what of it is hidden from people.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import { createdAt, listQuery, page, eventType as typeName, updatedAt } from "./parts.ts";

const apiVersion = z.string().meta({
  description: "Version of the type: 1 to 32 of `A-Z a-z 0-9 _ . -`. Each has a schema of its own.",
  pattern: "^[A-Za-z0-9_.-]{1,32}$",
  default: "1",
});
const schema = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe("JSON Schema 2020-12 of the data; null: it may be anything.");
const redact = z
  .array(z.string())
  .meta({ maxItems: 50, examples: [["/card/number", "/lines/*/price"]] })
  .describe(
    "What keys and members without payloads:read do not see: JSON Pointers, * for every item or member.",
  );

export const eventType = z
  .object({
    name: typeName,
    api_version: apiVersion,
    description: z.string().nullable().describe("What the event means, for people; null without one."),
    schema,
    example: z.unknown().describe("Data such as it is published; null without one."),
    redact,
    deprecated: z
      .boolean()
      .describe("Marked as not to be used any more; it is still published and delivered."),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: "EventType" });
export type EventType = z.output<typeof eventType>;

const eventTypeDetail = eventType
  .extend({ versions: z.array(z.string()).describe("All that are registered.") })
  .meta({ id: "EventTypeDetail" });
export type EventTypeDetail = z.output<typeof eventTypeDetail>;

const eventTypeInput = z
  .strictObject({
    api_version: apiVersion.optional(),
    description: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "What the event means, for people.", maxLength: 2_000 }),
    schema: schema.optional(),
    example: z
      .unknown()
      .optional()
      .describe("Data such as it is published, at most 64 KB; it has to fit the schema."),
    redact: redact.optional(),
    deprecated: z.boolean().optional().meta({
      description: "Marks it as not to be used any more; it is still published and delivered.",
      default: false,
    }),
  })
  .meta({ id: "EventTypeInput" });

const importedType = z
  .object({
    name: typeName,
    api_version: apiVersion,
    change: z
      .enum(["created", "updated", "unchanged"])
      .describe("What was done, or with `dry_run` would be."),
  })
  .meta({ id: "ImportedEventType" });

const ofVersion = z.object({
  api_version: z
    .string()
    .min(1)
    .optional()
    .describe("One version. Left out, GET shows the one registered last, and DELETE takes all away."),
});

const all = "/api/v1/event-types";
const path = `${all}/{name}` as const;
const reading: Permission = {
  scopes: ["webhooks:manage", "deliveries:read", "events:publish"],
  reach: "tenant",
};
const managing: Permission = { scopes: ["admin"], reach: "installation" };

export const eventTypes = {
  list: operation({
    method: "GET",
    path: all,
    summary: "Lists event types by name and version",
    permission: reading,
    query: listQuery({}),
    answer: { status: 200, schema: page(eventType) },
  }),
  export: operation({
    method: "GET",
    path: `${all}/export`,
    summary: "Writes the catalogue as OpenAPI 3.1 webhooks, or as AsyncAPI 3.0",
    permission: reading,
    query: z.object({
      format: z.enum(["openapi", "asyncapi"]).default("openapi").describe("OpenAPI 3.1 or AsyncAPI 3.0."),
      type: z
        .string()
        .optional()
        .describe("Of one type (`order.paid`), or of those below a prefix (`order.*`); left out, of all."),
    }),
    answer: { status: 200, schema: z.record(z.string(), z.unknown()) },
  }),
  import: operation({
    method: "POST",
    path: `${all}/import`,
    summary: "Registers the webhooks of an OpenAPI 3.1 document, all or none",
    permission: managing,
    body: z
      .strictObject({
        document: z.record(z.string(), z.unknown()).describe("An OpenAPI 3.1 document with `webhooks`."),
        dry_run: z
          .boolean()
          .optional()
          .meta({ description: "Only says what would be done.", default: false }),
      })
      .meta({ id: "EventTypesImport" }),
    answer: {
      status: 200,
      schema: z.object({
        data: z.array(importedType).describe("Each type of the document, and what became of it."),
      }),
    },
    refusals: { 409: ["event_type_limit_reached"], 422: ["invalid_event_type"] },
  }),
  put: operation({
    method: "PUT",
    path,
    summary: "Registers a version of a type, or replaces it",
    permission: managing,
    body: eventTypeInput,
    isBodyOptional: true,
    answer: { status: 200, schema: eventType },
    refusals: { 409: ["event_type_limit_reached"], 422: ["invalid_event_type"] },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows a type: the version registered last, unless told",
    permission: reading,
    query: ofVersion,
    answer: { status: 200, schema: eventTypeDetail },
    refusals: { 404: ["event_type_not_found"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes a version of a type, or all of them; what was published stays, and stays redacted",
    permission: managing,
    query: ofVersion,
    answer: { status: 204, schema: null },
    refusals: { 404: ["event_type_not_found"] },
  }),
};
