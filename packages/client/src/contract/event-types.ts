// The catalogue of event types with their schemas and redacted paths.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

const apiVersion = z.string().meta({
  description: "Version of the type: 1 to 32 of `A-Z a-z 0-9 _ . -`. Each version has its own schema.",
  pattern: "^[A-Za-z0-9_.-]{1,32}$",
  examples: ["1"],
});
const schema = s.nullable(
  z.record(z.string(), z.unknown()),
  "JSON Schema 2020-12 of the data. Null accepts any data.",
);
const redact = z
  .array(z.string())
  .meta({ maxItems: 50, examples: [["/card/number", "/lines/*/price"]] })
  .describe(
    "Paths that are redacted without payloads:read: JSON Pointers, with `*` for every item or member.",
  );

export const eventType = s.component("EventType", {
  name: s.eventType,
  api_version: apiVersion,
  description: s.nullableText("Description of the event. Null without one."),
  schema,
  example: z.unknown().describe("Example of the data. Null without one."),
  redact,
  deprecated: s.flag("True if the type is deprecated. It is still published and delivered."),
  created_at: s.createdAt,
  updated_at: s.updatedAt,
});
export type EventType = z.output<typeof eventType>;

const eventTypeDetail = s.component("EventTypeDetail", {
  ...eventType.shape,
  versions: s.list(z.string(), "All registered versions."),
});
export type EventTypeDetail = z.output<typeof eventTypeDetail>;

const eventTypeInput = s.inputComponent("EventTypeInput", {
  api_version: s.optional(
    apiVersion,
    "Version of the type: 1 to 32 of `A-Z a-z 0-9 _ . -`. The default is that of the deployment, `1` unless configured.",
  ),
  description: s.nullishText("Description of the event.", { maxLength: 2_000 }),
  schema: schema.optional(),
  example: s.optional(z.unknown(), "Example of the data, at most 64 KB. It must match the schema."),
  redact: redact.optional(),
  deprecated: s.optionalFlag("Marks the type as deprecated. It is still published and delivered."),
});

const importedType = s.component("ImportedEventType", {
  name: s.eventType,
  api_version: apiVersion,
  change: s.choice(
    ["created", "updated", "unchanged"],
    "The change, or with `dry_run` the change that would be made.",
  ),
});

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
  list: operation("GET", all, {
    summary: "Lists event types by name and version",
    permission: reading,
    query: s.listQuery({}),
    response: { status: 200, schema: s.page(eventType) },
  }),
  export: operation("GET", `${all}/export`, {
    summary: "Exports the catalogue as OpenAPI 3.1 webhooks or as AsyncAPI 3.0",
    permission: reading,
    query: z.object({
      format: z.enum(["openapi", "asyncapi"]).default("openapi").describe("OpenAPI 3.1 or AsyncAPI 3.0."),
      type: s.optionalText(
        "Only this type (`order.paid`) or the types with this prefix (`order.*`). Defaults to all.",
      ),
    }),
    response: { status: 200, schema: z.record(z.string(), z.unknown()) },
  }),
  import: operation("POST", `${all}/import`, {
    summary: "Registers the webhooks of an OpenAPI 3.1 document, all or none",
    permission: managing,
    body: s.inputComponent("EventTypesImport", {
      document: z.record(z.string(), z.unknown()).describe("An OpenAPI 3.1 document with `webhooks`."),
      dry_run: s.optionalFlag("Return the changes without making them."),
    }),
    response: {
      status: 200,
      schema: z.object({
        data: s.list(importedType, "The types of the document and their changes."),
      }),
    },
    errors: { 409: ["event_type_limit_reached"], 422: ["invalid_event_type"] },
  }),
  put: operation("PUT", path, {
    summary: "Registers or replaces a version of a type",
    permission: managing,
    body: eventTypeInput,
    isBodyOptional: true,
    response: { status: 200, schema: eventType },
    errors: { 409: ["event_type_limit_reached"], 422: ["invalid_event_type"] },
  }),
  get: operation("GET", path, {
    summary: "Returns a type, by default the version registered last",
    permission: reading,
    query: ofVersion,
    response: { status: 200, schema: eventTypeDetail },
    errors: { 404: ["event_type_not_found"] },
  }),
  delete: operation("DELETE", path, {
    summary: "Deletes a version of a type, or all. Published events are kept and stay redacted",
    permission: managing,
    query: ofVersion,
    response: { status: 204, schema: null },
    errors: { 404: ["event_type_not_found"] },
  }),
};
