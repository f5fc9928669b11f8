// Reads event types from the `webhooks` of an OpenAPI 3.1 document. A body with `type` and `data` is an envelope, and
// the schema is that of its data; any other body is the data itself.
import { type EnvelopeNames, escapePointer, isObject } from "@posthorn/wire";
import type { InputProblem } from "../errors.ts";
import type { JsonSchema } from "../json-schema/compile-schema.ts";
import { mapReferences } from "../json-schema/map-references.ts";
import { schemaAt } from "../json-schema/schema-limits.ts";
import type { CatalogueEntry } from "./export-documents.ts";

type Json = Readonly<Record<string, unknown>>;

export interface ImportedEntry extends Omit<CatalogueEntry, "apiVersion"> {
  /** Undefined if the document names none. */
  readonly apiVersion: string | undefined;
  /** Position in the document. */
  readonly pointer: string;
}

/** A generator, so that the caller can yield between types: each may include a large component. */
export function* readOpenApi(
  document: unknown,
  problems: InputProblem[],
  names: EnvelopeNames = {},
): Generator<ImportedEntry> {
  if (!isObject(document) || typeof document.openapi !== "string" || !document.openapi.startsWith("3.1.")) {
    problems.push({ pointer: "/openapi", message: "The document must be OpenAPI 3.1, which has webhooks." });
    return;
  }
  const { webhooks } = document;
  if (!isObject(webhooks) || Object.keys(webhooks).length === 0) {
    problems.push({
      pointer: "/webhooks",
      message: "The document has no webhooks, so there is nothing to import.",
    });
    return;
  }
  for (const [key, item] of Object.entries(webhooks)) {
    const pointer = `/webhooks/${escapePointer(key)}`;
    const entry = readWebhook(document, key, item, { pointer, names });
    if (typeof entry !== "string") yield entry;
    else problems.push({ pointer, message: entry });
  }
}

/** Returns the entry, or why it is invalid. */
function readWebhook(
  document: Json,
  key: string,
  item: unknown,
  { pointer, names }: { readonly pointer: string; readonly names: EnvelopeNames },
): ImportedEntry | string {
  const operations = referred(document, item);
  const post = isObject(operations) ? (operations.post ?? operations.put) : undefined;
  if (!isObject(post)) return "A webhook needs an operation post.";
  const { type = key, api_version, redact = [] } = isObject(post["x-posthorn"]) ? post["x-posthorn"] : {};
  const body = referred(document, post.requestBody);
  if (post.requestBody !== undefined && !isObject(body)) {
    return `Its "requestBody" is not an object, or refers to a component that is not in the document: ${shownReference(post.requestBody)}.`;
  }
  const media = mediaOf(document, body, names);
  const schema = media.schema === undefined ? null : closed(document, media.schema);
  if (typeof schema === "string") return schema;
  return {
    pointer,
    name: String(type),
    apiVersion: api_version === undefined ? undefined : String(api_version),
    description: firstText(post.description, post.summary),
    schema,
    example: media.example ?? null,
    redact: redact as readonly string[],
    deprecated: post.deprecated === true,
  };
}

/** Returns the schema and example of the data. */
function mediaOf(
  document: Json,
  body: unknown,
  { type: typeName = "type", data: dataName = "data" }: EnvelopeNames,
): { schema?: unknown; example?: unknown } {
  const content = isObject(body) && isObject(body.content) ? body.content : {};
  const name = Object.keys(content).find((type) => /^application\/([\w.+-]+\+)?json\b/.test(type)) ?? "";
  const media = content[name];
  if (!isObject(media)) return {};
  const example = media.example ?? firstExample(document, media.examples);
  const { value: outer } = resolved(document, media.schema);
  const fields = isObject(outer) && isObject(outer.properties) ? outer.properties : {};
  if (!(typeName in fields && dataName in fields)) return { schema: media.schema, example };
  const data = fields[dataName];
  const isAnything = data === true || (isObject(data) && Object.keys(data).length === 0);
  return {
    ...(!isAnything && { schema: data }),
    example: isObject(example) ? example[dataName] : undefined,
  };
}

function firstExample(document: Json, examples: unknown): unknown {
  const [first] = isObject(examples) ? Object.values(examples) : [];
  const example = referred(document, first);
  return isObject(example) ? example.value : undefined;
}

/** Resolves references of objects other than schemas, ignoring `summary` and `description` beside `$ref`. */
function referred(document: Json, value: unknown): unknown {
  const isReference = isObject(value) && typeof value.$ref === "string";
  const target = isReference ? resolved(document, { $ref: value.$ref }).value : value;
  return isObject(target) && target.$ref !== undefined ? undefined : target;
}

function shownReference(value: unknown): string {
  return `"${String(isObject(value) ? value.$ref : value).slice(0, 200)}"`;
}

/** Follows a limited number of references, because some are circular. */
function resolved(document: Json, value: unknown): { readonly value: unknown; readonly at: string | null } {
  let at: string | null = null;
  let current = value;
  for (let step = 0; step < 10; step += 1) {
    if (!isObject(current) || typeof current.$ref !== "string" || Object.keys(current).length > 1) break;
    at = current.$ref;
    current = at.startsWith("#/") ? schemaAt(document, at.slice(1)) : undefined;
  }
  return { value: current, at };
}

const COMPONENT = /^#\/components\/schemas\/([^/]+)(\/.*)?$/;

/** Returns the schema with all referenced schemas under its own `$defs`, or why that is impossible. */
function closed(document: Json, schema: unknown): JsonSchema | string {
  const { value: root, at: home } = resolved(document, schema);
  if (!isObject(root)) return `The schema ${home ?? ""} does not exist or is not an object.`;
  const components = new Map<string, unknown>();
  const missing: string[] = [];
  const rewrite = (reference: string): string => {
    if (home !== null && (reference === home || reference.startsWith(`${home}/`))) {
      return `#${reference.slice(home.length)}`;
    }
    const [, name = "", rest = ""] = COMPONENT.exec(reference) ?? [];
    const component = components.get(name) ?? schemaAt(document, `/components/schemas/${name}`);
    if (name === "" || component === undefined) {
      missing.push(reference);
      return reference;
    }
    components.set(name, component);
    return `#/$defs/${name}${rest}`;
  };
  const moved = mapReferences(root, rewrite) as JsonSchema;
  // a growing list instead of recursion: references may be a chain of thousands
  const definitions: [string, unknown][] = [];
  for (const [name, component] of components) definitions.push([name, mapReferences(component, rewrite)]);
  if (missing.length > 0) return `Its schema refers to ${missing[0]}, which is not in components/schemas.`;
  if (definitions.length === 0) return moved;
  return { ...moved, $defs: { ...(moved.$defs as Json | undefined), ...Object.fromEntries(definitions) } };
}

function firstText(...texts: readonly unknown[]): string | null {
  return texts.find((text): text is string => typeof text === "string" && text !== "") ?? null;
}
