// Exports the catalogue as webhooks of an OpenAPI 3.1 document and as AsyncAPI 3.0. Both describe the body of the
// format `envelope`.
import type { EnvelopeField, EnvelopeNames } from "@posthorn/wire";
import type { JsonSchema } from "../json-schema/compile-schema.ts";
import { mapReferences } from "../json-schema/map-references.ts";

type Json = Record<string, unknown>;

/** An event type in the catalogue and in exported documents. */
export interface CatalogueEntry {
  readonly name: string;
  readonly apiVersion: string;
  readonly description: string | null;
  /** JSON Schema 2020-12 of the data; null: any data. */
  readonly schema: JsonSchema | null;
  readonly example: unknown;
  /** Redacted paths for people without `payloads:read`: JSON Pointers, `*` matches every item or member. */
  readonly redact: readonly string[];
  readonly deprecated: boolean;
}

/** The unique key of an entry in documents. */
export function keyOf({ name, apiVersion }: Pick<CatalogueEntry, "name" | "apiVersion">): string {
  return `${name}-${apiVersion}`;
}

export const EXPORT_FORMATS = ["openapi", "asyncapi"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** `names` are the deployment's names of envelope fields. */
export function exportCatalogue(
  format: ExportFormat,
  entries: readonly CatalogueEntry[],
  names: EnvelopeNames = {},
): Json {
  return format === "openapi" ? openApi(entries, names) : asyncApi(entries, names);
}

const INFO = {
  title: "Events",
  version: "1",
  description: "Published events, as an endpoint receives them.",
};

function openApi(entries: readonly CatalogueEntry[], names: EnvelopeNames): Json {
  const webhooks = entries.map((entry) => [keyOf(entry), { post: operationOf(entry, names) }]);
  return {
    openapi: "3.1.0",
    info: INFO,
    webhooks: Object.fromEntries(webhooks),
    components: { schemas: schemasOf(entries) },
  };
}

/** Fields without an OpenAPI equivalent are under `x-posthorn`, where the import reads them. */
function operationOf(entry: CatalogueEntry, names: EnvelopeNames): Json {
  const { name, apiVersion, description, example, redact, deprecated } = entry;
  return {
    operationId: keyOf(entry),
    ...(description !== null && { description }),
    ...(deprecated && { deprecated }),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: envelopeOf(entry, names),
          ...(example !== null && { example: exampleOf(entry, names) }),
        },
      },
    },
    responses: { "2XX": { description: "It arrived." } },
    "x-posthorn": { type: name, api_version: apiVersion, ...(redact.length > 0 && { redact }) },
  };
}

function asyncApi(entries: readonly CatalogueEntry[], names: EnvelopeNames): Json {
  const reference = (path: string) => ({ $ref: `#/${path}` });
  const keys = entries.map(keyOf);
  const channels = keys.map((key) => [
    key,
    { address: null, messages: { [key]: reference(`components/messages/${key}`) } },
  ]);
  const operations = keys.map((key) => [
    `send-${key}`,
    {
      action: "send",
      channel: reference(`channels/${key}`),
      messages: [reference(`channels/${key}/messages/${key}`)],
    },
  ]);
  return {
    asyncapi: "3.0.0",
    info: INFO,
    defaultContentType: "application/json",
    channels: Object.fromEntries(channels),
    operations: Object.fromEntries(operations),
    components: {
      messages: Object.fromEntries(entries.map((entry) => [keyOf(entry), messageOf(entry, names)])),
      schemas: schemasOf(entries),
    },
  };
}

function messageOf(entry: CatalogueEntry, names: EnvelopeNames): Json {
  const { name, apiVersion, description, example, deprecated } = entry;
  return {
    name,
    title: `${name}, version ${apiVersion}`,
    ...(description !== null && { description }),
    ...(deprecated && { tags: [{ name: "deprecated" }] }),
    contentType: "application/json",
    payload: envelopeOf(entry, names),
    ...(example !== null && { examples: [{ payload: exampleOf(entry, names) }] }),
  };
}

function envelopeOf(entry: CatalogueEntry, names: EnvelopeNames): Json {
  const { name, apiVersion, schema } = entry;
  const required: readonly EnvelopeField[] = ["id", "type", "api_version", "created_at", "tenant_id", "data"];
  return {
    type: "object",
    required: required.map((field) => names[field] ?? field),
    properties: renamed(names, {
      id: { type: "string" },
      type: { const: name },
      api_version: { const: apiVersion },
      created_at: { type: "string", format: "date-time" },
      tenant_id: { type: "string" },
      subject: { type: "string" },
      sequence: { type: "integer" },
      data: schema === null ? true : { $ref: `#/components/schemas/${keyOf(entry)}` },
    }),
  };
}

function renamed(names: EnvelopeNames, fields: Partial<Record<EnvelopeField, unknown>>): Json {
  const entries = Object.entries(fields) as [EnvelopeField, unknown][];
  return Object.fromEntries(entries.map(([field, value]) => [names[field] ?? field, value]));
}

function exampleOf({ name, apiVersion, example }: CatalogueEntry, names: EnvelopeNames): Json {
  return renamed(names, {
    id: "evt_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
    type: name,
    api_version: apiVersion,
    created_at: "2026-11-15T09:30:00.000Z",
    tenant_id: "acme",
    data: example,
  });
}

/** References in a schema are relative to the schema; in a document they are relative to the document. */
function schemasOf(entries: readonly CatalogueEntry[]): Json {
  return Object.fromEntries(
    entries.flatMap((entry) => {
      const { schema } = entry;
      if (schema === null) return [];
      const home = `#/components/schemas/${keyOf(entry)}`;
      return [[keyOf(entry), mapReferences(schema, (reference) => home + reference.slice(1))]];
    }),
  );
}
