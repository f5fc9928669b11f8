// The catalogue: what is published, what its data looks like, and what of it is hidden from people.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import { listQuery, page, time, eventType as typeName } from "./parts.ts";

const apiVersion = z.string().meta({ pattern: "^[A-Za-z0-9_.-]{1,32}$", default: "1" });
const schema = z
  .record(z.string(), z.unknown())
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
    description: z.string().nullable(),
    schema: schema.nullable(),
    example: z.unknown(),
    redact,
    deprecated: z.boolean(),
    created_at: time,
    updated_at: time,
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
    description: z.string().nullable().optional().meta({ maxLength: 2_000 }),
    schema: schema.nullable().optional(),
    example: z.unknown().optional(),
    redact: redact.optional(),
    deprecated: z.boolean().optional(),
  })
  .meta({ id: "EventTypeInput" });

const importedType = z
  .object({
    name: typeName,
    api_version: apiVersion,
    change: z.enum(["created", "updated", "unchanged"]),
  })
  .meta({ id: "ImportedEventType" });

const ofVersion = z.object({
  api_version: z.string().min(1).optional().describe("One version; left out, see the operation."),
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
    query: z.object({ format: z.enum(["openapi", "asyncapi"]).default("openapi") }),
    answer: { status: 200, schema: z.record(z.string(), z.unknown()) },
  }),
  import: operation({
    method: "POST",
    path: `${all}/import`,
    summary: "Registers the webhooks of an OpenAPI 3.1 document, all or none",
    permission: managing,
    body: z
      .strictObject({
        document: z.record(z.string(), z.unknown()),
        dry_run: z.boolean().optional().describe("Only says what would be done."),
      })
      .meta({ id: "EventTypesImport" }),
    answer: { status: 200, schema: z.object({ data: z.array(importedType) }) },
  }),
  put: operation({
    method: "PUT",
    path,
    summary: "Registers a version of a type, or replaces it",
    permission: managing,
    body: eventTypeInput,
    isBodyOptional: true,
    answer: { status: 200, schema: eventType },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows a type: the version registered last, unless told",
    permission: reading,
    query: ofVersion,
    answer: { status: 200, schema: eventTypeDetail },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes a version of a type, or all of them; what was published stays, and stays redacted",
    permission: managing,
    query: ofVersion,
    answer: { status: 204, schema: null },
  }),
};
