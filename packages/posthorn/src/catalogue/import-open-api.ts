// Event types from the `webhooks` of an OpenAPI 3.1 document. A body that has `type` and `data` is taken for an
// envelope, and the schema is that of its data; any other body is the data itself.
import type { InputProblem } from "../errors.ts";
import type { JsonSchema } from "./compile-schema.ts";
import type { CatalogueEntry } from "./entry.ts";
import { mapReferences } from "./map-references.ts";
import { escaped, schemaAt } from "./schema-limits.ts";

type Json = Readonly<Record<string, unknown>>;

export interface ImportedEntry extends CatalogueEntry {
  /** Where in the document it stands. */
  readonly pointer: string;
}

export function readOpenApi(document: unknown, problems: InputProblem[]): ImportedEntry[] {
  if (!isObject(document) || typeof document.openapi !== "string" || !document.openapi.startsWith("3.1.")) {
    problems.push({ pointer: "/openapi", message: "The document must be OpenAPI 3.1, which has webhooks." });
    return [];
  }
  const { webhooks } = document;
  if (!isObject(webhooks) || Object.keys(webhooks).length === 0) {
    problems.push({
      pointer: "/webhooks",
      message: "The document has no webhooks, so there is nothing to import.",
    });
    return [];
  }
  return Object.entries(webhooks).flatMap(([key, item]) => {
    const pointer = `/webhooks/${escaped(key)}`;
    const entry = readWebhook(document, key, item, pointer);
    if (typeof entry !== "string") return [entry];
    problems.push({ pointer, message: entry });
    return [];
  });
}

/** The entry, or why there is none. */
function readWebhook(document: Json, key: string, item: unknown, pointer: string): ImportedEntry | string {
  const post = isObject(item) ? (item.post ?? item.put) : undefined;
  if (!isObject(post)) return "A webhook needs an operation post.";
  const {
    type = key,
    api_version = "1",
    redact = [],
  } = isObject(post["x-posthorn"]) ? post["x-posthorn"] : {};
  const media = mediaOf(document, post);
  const schema = media.schema === undefined ? null : closed(document, media.schema);
  if (typeof schema === "string") return schema;
  return {
    pointer,
    name: String(type),
    apiVersion: String(api_version),
    description: firstText(post.description, post.summary),
    schema,
    example: media.example ?? null,
    redact: redact as readonly string[],
    deprecated: post.deprecated === true,
  };
}

/** The data's schema and example. */
function mediaOf(document: Json, { requestBody }: Json): { schema?: unknown; example?: unknown } {
  const body = resolved(document, requestBody).value;
  const content = isObject(body) && isObject(body.content) ? body.content : {};
  const name = Object.keys(content).find((type) => /^application\/([\w.+-]+\+)?json\b/.test(type)) ?? "";
  const media = content[name];
  if (!isObject(media)) return {};
  const example = media.example ?? firstExample(document, media.examples);
  const { value: outer } = resolved(document, media.schema);
  if (!isEnvelope(outer)) return { schema: media.schema, example };
  const { data } = outer.properties as { data: unknown };
  const isAnything = data === true || (isObject(data) && Object.keys(data).length === 0);
  return {
    ...(!isAnything && { schema: data }),
    example: isObject(example) ? example.data : undefined,
  };
}

function isEnvelope(schema: unknown): schema is Json {
  return (
    isObject(schema) &&
    isObject(schema.properties) &&
    "type" in schema.properties &&
    "data" in schema.properties
  );
}

function firstExample(document: Json, examples: unknown): unknown {
  const [first] = isObject(examples) ? Object.values(examples) : [];
  const { value } = resolved(document, first);
  return isObject(value) ? value.value : undefined;
}

/** Follows references, a few of them at most: some go in a circle. */
function resolved(document: Json, value: unknown): { readonly value: unknown; readonly at: string | null } {
  let at: string | null = null;
  let current = value;
  for (let step = 0; step < 10; step += 1) {
    if (!isObject(current) || typeof current.$ref !== "string" || Object.keys(current).length > 1) break;
    at = current.$ref;
    current = schemaAt(document, at.slice(1));
  }
  return { value: current, at };
}

const COMPONENT = /^#\/components\/schemas\/([^/]+)(\/.*)?$/;

/** The schema with all that it refers to under its own `$defs`; or why that cannot be. */
function closed(document: Json, schema: unknown): JsonSchema | string {
  const { value: root, at: home } = resolved(document, schema);
  if (!isObject(root)) return `The schema ${home ?? ""} is not there, or is no object.`;
  const definitions: Record<string, unknown> = {};
  const missing: string[] = [];
  const rewrite = (reference: string): string => {
    if (home !== null && (reference === home || reference.startsWith(`${home}/`))) {
      return `#${reference.slice(home.length)}`;
    }
    const [, name = "", rest = ""] = COMPONENT.exec(reference) ?? [];
    const component = schemaAt(document, `/components/schemas/${name}`);
    if (name === "" || component === undefined) {
      missing.push(reference);
      return reference;
    }
    if (!Object.hasOwn(definitions, name)) {
      definitions[name] = true; // a place, for what refers back to it
      definitions[name] = mapReferences(component, rewrite);
    }
    return `#/$defs/${name}${rest}`;
  };
  const moved = mapReferences(root, rewrite) as JsonSchema;
  if (missing.length > 0) return `Its schema refers to ${missing[0]}, which is not in components/schemas.`;
  if (Object.keys(definitions).length === 0) return moved;
  return { ...moved, $defs: { ...(moved.$defs as Json | undefined), ...definitions } };
}

function firstText(...texts: readonly unknown[]): string | null {
  return texts.find((text): text is string => typeof text === "string" && text !== "") ?? null;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
