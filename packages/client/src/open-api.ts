// OpenAPI 3.1 from the contract. Schemas with an id become components; the rest stands where it is used.
import { z } from "zod";
import { contract } from "./contract/contract.ts";
import type { Contract, Operation } from "./contract/operation.ts";
import { endpointId, eventId, problem, tenantId, time } from "./contract/parts.ts";
import { systemEvents } from "./contract/system-events.ts";

type Json = Record<string, unknown>;

export interface OpenApiOptions {
  /** Where people reach the server; left out, the document speaks of wherever it was found. */
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

/** `resource.name` of every operation, with the operation. */
export function operationsOf(given: Contract = contract): [id: string, operation: Operation][] {
  return Object.entries(given).flatMap(([resource, operations]) =>
    Object.entries(operations).map(([name, one]): [string, Operation] => [`${resource}.${name}`, one]),
  );
}

export function pathParamsOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
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
  const { scopes, reach } = one.permission;
  const needs = `Needs the scope ${scopes.map((scope) => `\`${scope}\``).join(" or ")}${reach === "installation" ? ", of a key without a tenant" : ""}.`;
  const content = (schema: Json, type = "application/json"): Json => ({ [type]: { schema } });
  return {
    operationId: id,
    tags: [id.split(".")[0]],
    summary: one.summary,
    description: needs,
    parameters: [
      ...pathParamsOf(one.path).map((name) => ({
        name,
        in: "path",
        required: true,
        schema: { type: "string" },
      })),
      ...queryParameters(one, schemaOf),
    ],
    ...(one.body && {
      requestBody: { required: !one.isBodyOptional, content: content(schemaOf(one.body, "input")) },
    }),
    responses: {
      [one.answer.status]: {
        description: one.summary,
        ...(one.answer.schema && { content: content(schemaOf(one.answer.schema, "output")) }),
      },
      default: {
        description: "It was refused; `code` says why.",
        content: content({ $ref: "#/components/schemas/Problem" }, "application/problem+json"),
      },
    },
  };
}

function queryParameters({ query }: Operation, schemaOf: SchemaOf): Json[] {
  if (!query) return [];
  const { properties = {}, required = [] } = schemaOf(query, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

/** As they arrive at an endpoint of the format `envelope`. */
function webhooksOf(schemaOf: SchemaOf): Json {
  return Object.fromEntries(
    Object.entries(systemEvents).map(([type, { summary, data }]) => {
      const body = z.object({
        id: eventId,
        type: z.literal(type),
        api_version: z.string(),
        created_at: time,
        tenant_id: tenantId,
        subject: endpointId.optional(),
        sequence: z.int().optional(),
        data,
      });
      const content = { "application/json": { schema: schemaOf(body, "output") } };
      const responses = { "2XX": { description: "It arrived." } };
      return [type, { post: { operationId: type, summary, requestBody: { content }, responses } }];
    }),
  );
}

/** Moves what has an id into the components. */
function jsonSchema(schema: z.ZodType, io: "input" | "output", components: Json): Json {
  const {
    $schema: _,
    $defs = {},
    id,
    ...rest
  } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Json & {
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
