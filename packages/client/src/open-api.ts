// Generates OpenAPI 3.1 from the contract. Schemas with an id become components; others are inlined.
import { z } from "zod";
import { pathParamsOf } from "./call.ts";
import { contract } from "./contract/contract.ts";
import type { Contract, Operation } from "./contract/operation.ts";
import { endpointId, eventId, pathParams, problem, tenantId, time } from "./contract/parts.ts";
import { systemEvents } from "./contract/system-events.ts";

type Json = Record<string, unknown>;

export interface OpenApiOptions {
  /** Public URL of the server. If it is left out, paths are relative to the document. */
  readonly publicUrl?: string | undefined;
  readonly version: string;
}

export function openApi({ publicUrl, version }: OpenApiOptions): Json {
  const components: Json = {};
  const schemaOf = (schema: z.ZodType, io: "input" | "output"): Json => jsonSchema(schema, io, components);
  const paths = pathsOf(contract, schemaOf);
  const webhooks = webhooksOf(schemaOf);
  schemaOf(problem, "output");
  return {
    openapi: "3.1.0",
    info: {
      title: "Posthorn",
      version,
      description: "Durable outbound webhooks.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl ?? "/" }],
    security: [{ key: [] }],
    tags: Object.keys(contract).map((name) => ({ name })),
    paths,
    webhooks,
    components: {
      schemas: components,
      securitySchemes: { key: { type: "http", scheme: "bearer", description: "A key such as `phk_…`." } },
    },
  };
}

/** Returns all operations with their ids, `resource.name`. */
export function operationsOf(given: Contract = contract): [id: string, operation: Operation][] {
  return Object.entries(given).flatMap(([resource, operations]) =>
    Object.entries(operations).map(([name, one]): [string, Operation] => [`${resource}.${name}`, one]),
  );
}

type SchemaOf = (schema: z.ZodType, io: "input" | "output") => Json;

function pathsOf(given: Contract, schemaOf: SchemaOf): Json {
  const paths: Record<string, Json> = {};
  for (const [id, one] of operationsOf(given)) {
    paths[one.path] ??= {};
    (paths[one.path] as Json)[one.method.toLowerCase()] = operationOf(id, one, schemaOf);
  }
  return paths;
}

function operationOf(id: string, one: Operation, schemaOf: SchemaOf): Json {
  const content = (schema: Json): Json => ({ "application/json": { schema } });
  return {
    operationId: id,
    tags: [id.split(".")[0]],
    summary: one.summary,
    description: [one.remark, needs(one.permission)].filter(Boolean).join(" "),
    ...(one.permission === "public" && { security: [] }),
    parameters: [
      ...pathParamsOf(one.path).map((name) =>
        parameterOf(name, "path", true, schemaOf(inPath(name), "input")),
      ),
      ...parametersOf("query", one.query, schemaOf),
      ...parametersOf("header", one.headers, schemaOf),
    ],
    ...(one.body && {
      requestBody: {
        required: !one.isBodyOptional,
        content: { ...content(schemaOf(one.body, "input")), ...otherContent(one.otherBodies, schemaOf) },
      },
    }),
    responses: {
      [one.response.status]: {
        description: one.summary,
        ...(one.response.schema && {
          content: (one.response.isExport ? exportContent : content)(schemaOf(one.response.schema, "output")),
        }),
      },
      ...Object.fromEntries(
        Object.entries(errorCodesOf(one)).map(([status, codes]) => [status, errorResponse(codes)]),
      ),
    },
  };
}

/** OpenAPI 3.1 has no schema for a stream, so this is the schema of a line. */
function exportContent(row: Json): Json {
  return { "application/x-ndjson": { schema: row }, "text/csv": { schema: { type: "string" } } };
}

function otherContent(bodies: Operation["otherBodies"] = {}, schemaOf: SchemaOf): Json {
  return Object.fromEntries(
    Object.entries(bodies).map(([type, schema]) => [type, { schema: schemaOf(schema, "input") }]),
  );
}

function needs(permission: Operation["permission"]): string {
  if (permission === "public") return "Needs no key.";
  const { scopes, reach } = permission;
  const named = scopes.map((scope) => `\`${scope}\``).join(" or ");
  return `Needs the scope ${named}${reach === "installation" ? " and a key without a tenant" : ""}.`;
}

function inPath(name: string): z.ZodType {
  const schema = pathParams[name];
  if (schema === undefined) throw new Error(`The path parameter {${name}} has no schema.`);
  return schema;
}

function parametersOf(place: string, given: z.ZodObject | undefined, schemaOf: SchemaOf): Json[] {
  if (!given) return [];
  const { properties = {}, required = [] } = schemaOf(given, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) =>
    parameterOf(name, place, required.includes(name), schema),
  );
}

function parameterOf(name: string, place: string, required: boolean, { description, ...schema }: Json): Json {
  return { name, in: place, required, description, schema };
}

/** Returns all error codes of an operation by status, including common ones. */
export function errorCodesOf({
  body,
  query,
  permission,
  errors = {},
}: Operation): Record<number, readonly string[]> {
  const invalid = [
    ...(body ? ["invalid_body"] : []),
    ...(query ? ["invalid_parameter", "invalid_query"] : []),
    ...(errors[422] ?? []),
  ];
  return {
    ...(body && { 400: ["malformed_json", "invalid_utf8", "body_incomplete"] }),
    ...(permission === "public" ? SIGNING_IN : WITH_A_KEY),
    ...errors,
    ...(body && { 413: ["body_too_large", ...(errors[413] ?? [])], 415: ["unsupported_media_type"] }),
    ...(invalid.length > 0 && { 422: invalid }),
    500: ["internal_error"],
    503: ["database_unavailable", "overloaded", "shutting_down"],
  };
}

const WITH_A_KEY = { 401: ["unauthorized"], 403: ["forbidden"], 429: ["rate_limited"] };
const SIGNING_IN = {
  401: ["sign_in_failed"],
  403: ["cross_site_request"],
  421: ["unknown_host"],
  429: ["too_many_sign_ins"],
};

function errorResponse(codes: readonly string[]): Json {
  return {
    description: `Error with the \`code\` ${codes.map((code) => `\`${code}\``).join(" or ")}.`,
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}

/** The system events in the format `envelope`. */
function webhooksOf(schemaOf: SchemaOf): Json {
  return Object.fromEntries(
    Object.entries(systemEvents).map(([type, { summary, data }]) => {
      const body = z.object({
        id: eventId,
        type: z.literal(type).describe("Type of the event."),
        api_version: z.string().describe("Version of the data."),
        created_at: time.describe("When it happened, in UTC."),
        tenant_id: tenantId,
        subject: endpointId.optional().describe("Id of the endpoint."),
        sequence: z.int().optional().describe("Number within the subject, starting at 1."),
        data: data.describe("Data of the event."),
      });
      const content = { "application/json": { schema: schemaOf(body, "output") } };
      const responses = { "2XX": { description: "Received." } };
      return [type, { post: { operationId: type, summary, requestBody: { content }, responses } }];
    }),
  );
}

/** Converts a schema, and moves schemas with an id to the components. */
function jsonSchema(schema: z.ZodType, io: "input" | "output", components: Json): Json {
  const {
    $schema: _,
    $defs = {},
    id,
    ...rest
  } = z.toJSONSchema(schema, { io, unrepresentable: "any", override: simplify }) as Json & {
    $defs?: Record<string, Json>;
    id?: string;
  };
  for (const [name, { id: _id, ...definition }] of Object.entries($defs)) {
    components[name] ??= withComponents(definition);
  }
  if (id === undefined) return withComponents(rest) as Json;
  components[id] ??= withComponents(rest);
  return { $ref: `#/components/schemas/${id}` };
}

/**
 * Keeps only `oneOf` where it documents the alternatives of a schema, and removes the bounds of safe integers.
 */
function simplify({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.oneOf !== undefined) delete jsonSchema.anyOf;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function withComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withComponents);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) =>
      name === "$ref" && typeof inner === "string"
        ? [name, inner.replace("#/$defs/", "#/components/schemas/")]
        : [name, withComponents(inner)],
    ),
  );
}
