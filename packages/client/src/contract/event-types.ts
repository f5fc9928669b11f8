// The catalogue of event types with their schemas and redacted paths.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import { createdAt, listQuery, page, eventType as typeName, updatedAt } from "./parts.ts";

const apiVersion = z.string().meta({
  description: "Version of the type: 1 to 32 of `A-Z a-z 0-9 _ . -`. Each version has its own schema.",
  pattern: "^[A-Za-z0-9_.-]{1,32}$",
  default: "1",
});
const schema = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe("JSON Schema 2020-12 of the data. Null accepts any data.");
const redact = z
  .array(z.string())
  .meta({ maxItems: 50, examples: [["/card/number", "/lines/*/price"]] })
  .describe(
    "Paths that are redacted without payloads:read: JSON Pointers, with `*` for every item or member.",
  );

export const eventType = z
  .object({
    name: typeName,
    api_version: apiVersion,
    description: z.string().nullable().describe("Description of the event. Null without one."),
    schema,
    example: z.unknown().describe("Example of the data. Null without one."),
    redact,
    deprecated: z.boolean().describe("True if the type is deprecated. It is still published and delivered."),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: "EventType" });
export type EventType = z.output<typeof eventType>;

const eventTypeDetail = eventType
  .extend({ versions: z.array(z.string()).describe("All registered versions.") })
  .meta({ id: "EventTypeDetail" });
export type EventTypeDetail = z.output<typeof eventTypeDetail>;

const eventTypeInput = z
  .strictObject({
    api_version: apiVersion.optional(),
    description: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "Description of the event.", maxLength: 2_000 }),
    schema: schema.optional(),
    example: z.unknown().optional().describe("Example of the data, at most 64 KB. It must match the schema."),
    redact: redact.optional(),
    deprecated: z.boolean().optional().meta({
      description: "Marks the type as deprecated. It is still published and delivered.",
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
      .describe("The change, or with `dry_run` the change that would be made."),
  })
  .meta({ id: "ImportedEventType" });

const ofVersion = z.object({
  api_version: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Version of the type. By default, GET returns the one registered last, and DELETE deletes all.",
    ),
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
    summary: "Exports the catalogue as OpenAPI 3.1 webhooks or as AsyncAPI 3.0",
    permission: reading,
    query: z.object({
      format: z.enum(["openapi", "asyncapi"]).default("openapi").describe("OpenAPI 3.1 or AsyncAPI 3.0."),
      type: z
        .string()
        .optional()
        .describe(
          "Only this type (`order.paid`) or the types with this prefix (`order.*`). Defaults to all.",
        ),
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
          .meta({ description: "Return the changes without making them.", default: false }),
      })
      .meta({ id: "EventTypesImport" }),
    answer: {
      status: 200,
      schema: z.object({
        data: z.array(importedType).describe("The types of the document and their changes."),
      }),
    },
    refusals: { 409: ["event_type_limit_reached"], 422: ["invalid_event_type"] },
  }),
  put: operation({
    method: "PUT",
    path,
    summary: "Registers or replaces a version of a type",
    permission: managing,
    body: eventTypeInput,
    isBodyOptional: true,
    answer: { status: 200, schema: eventType },
    refusals: { 409: ["event_type_limit_reached"], 422: ["invalid_event_type"] },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Returns a type, by default the version registered last",
    permission: reading,
    query: ofVersion,
    answer: { status: 200, schema: eventTypeDetail },
    refusals: { 404: ["event_type_not_found"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes a version of a type, or all. Published events are kept and stay redacted",
    permission: managing,
    query: ofVersion,
    answer: { status: 204, schema: null },
    refusals: { 404: ["event_type_not_found"] },
  }),
};
