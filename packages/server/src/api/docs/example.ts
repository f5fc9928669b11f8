// Examples for the API reference: a value that matches a schema, and the curl command that sends it.
import { REF, type Schema, type Schemas } from "./schema.ts";

const MAX_DEPTH = 6;

export function exampleOf(given: Schema, schemas: Schemas, depth = 0): unknown {
  const schema = resolve(given, schemas);
  if (schema.examples?.length) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum?.length) return schema.enum[0];
  const [first] = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== "null");
  if (first !== undefined) return exampleOf(first, schemas, depth);
  if (schema.properties !== undefined) return objectOf(schema, schemas, depth);
  if (schema.items !== undefined)
    return depth > MAX_DEPTH ? [] : [exampleOf(schema.items, schemas, depth + 1)];
  return SIMPLE[String(schema.type)] ?? { order: 17 };
}

function resolve({ $ref, ...beside }: Schema, schemas: Schemas): Schema {
  return $ref === undefined ? beside : { ...schemas[$ref.slice(REF.length)], ...beside };
}

const SIMPLE: Readonly<Record<string, unknown>> = {
  string: "…",
  integer: 1,
  number: 1,
  boolean: true,
  object: {},
};

/**
 * Includes the required fields, or the first field if none is required; for an endpoint its url and events. A dry run is
 * used where there is one, so that a pasted example changes nothing.
 */
function objectOf({ properties = {}, required = [] }: Schema, schemas: Schemas, depth: number): unknown {
  if (depth > MAX_DEPTH) return {};
  const [first] = Object.keys(properties);
  const usual = "url" in properties && "events" in properties ? ["url", "events"] : required;
  const chosen = usual.length > 0 ? usual : first === undefined ? [] : [first];
  const names = "dry_run" in properties ? [...chosen, "dry_run"] : chosen;
  return Object.fromEntries(
    names.map((name) => [name, NAMED[name] ?? exampleOf(properties[name] ?? {}, schemas, depth + 1)]),
  );
}

/** Realistic values that the schema does not contain. */
const NAMED: Readonly<Record<string, unknown>> = {
  url: "https://example.com/webhooks",
  name: "Shop",
  description: "Shop",
  events: ["order.*"],
  overlap_seconds: 86_400,
  dry_run: true,
  document: { openapi: "3.1.0", webhooks: { "order.paid": { post: { summary: "An order was paid." } } } },
};

export function curlFor(
  method: string,
  path: string,
  ids: Readonly<Record<string, string>>,
  body: unknown,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? `<${name}>`);
  return [
    `curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"$POSTHORN_URL${filled}"`,
    `-H "Authorization: Bearer $POSTHORN_API_KEY"`,
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ].join(" \\\n  ");
}

/** Quotes text for a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
