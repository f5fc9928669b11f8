// Renders JSON schemas as HTML: the type of each field, its limits and its nested fields.
import { type Html, html, prose } from "./html.ts";

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly title?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export type Use = "sent" | "answered";

export type Schemas = Readonly<Record<string, Schema>>;

const REF = "#/components/schemas/";
/** Deep enough for every schema, and a limit for recursive ones. */
const MAX_DEPTH = 8;

/** Renders a table of fields; nested fields are collapsed. */
export function fieldsOf(given: Schema, schemas: Schemas, use: Use = "sent", depth = 0): Html {
  const schema = resolve(given, schemas);
  const options = alternativesOf(schema);
  if (options.length > 1) {
    return html`${options.map(
      (option, index) =>
        html`<p class="quiet">${index === 0 ? "Either" : "or"} ${optionOf(option, schemas)}</p>${isListOf(option, options) ? "" : inside(option, schemas, use, depth)}`,
    )}`;
  }
  const [only = schema] = options;
  const target = resolve(only, schemas);
  if (target.properties === undefined) return inside(target, schemas, use, depth);
  // a response has every field, so "required" is shown for requests only
  const required = use === "sent" ? (target.required ?? []) : [];
  return html`<table class="fields">${Object.entries(target.properties).map(([name, field]) =>
    rowOf(name, field, required.includes(name), schemas, use, depth),
  )}</table>`;
}

function rowOf(
  name: string,
  field: Schema,
  isRequired: boolean,
  schemas: Schemas,
  use: Use,
  depth: number,
): Html {
  const description = field.description ?? resolve(field, schemas).description;
  const more = insideOf(field, schemas);
  return html`<tr><th scope="row"><code>${name}</code>${isRequired ? html`<span class="required">required</span>` : ""}</th>
<td><span class="type">${typeOf(field, schemas)}</span>${limitsOf(field, schemas)}${description === undefined ? "" : html`<p>${prose(description)}</p>`}${
    more === null || depth >= MAX_DEPTH
      ? ""
      : html`<details><summary>Its fields</summary>${fieldsOf(more, schemas, use, depth + 1)}</details>`
  }</td></tr>`;
}

/** True for a list of another alternative, whose fields are shown already. */
function isListOf({ items }: Schema, options: readonly Schema[]): boolean {
  return items?.$ref !== undefined && options.some(({ $ref }) => $ref === items.$ref);
}

function optionOf(option: Schema, schemas: Schemas): Html {
  const { title, description } = option;
  return html`${title ?? typeOf(option, schemas)}${title === undefined || description === undefined ? "" : html`: ${prose(description)}`}`;
}

/** Renders the fields of the items of an array or map. */
function inside(schema: Schema, schemas: Schemas, use: Use, depth: number): Html {
  const more = insideOf(schema, schemas);
  return more === null || depth >= MAX_DEPTH ? html`` : fieldsOf(more, schemas, use, depth + 1);
}

/** Returns the object schema that the schema is or contains, or null. */
export function insideOf(given: Schema, schemas: Schemas): Schema | null {
  const schema = resolve(given, schemas);
  if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) return schema;
  if (schema.items !== undefined) return insideOf(schema.items, schemas);
  if (typeof schema.additionalProperties === "object") return insideOf(schema.additionalProperties, schemas);
  const options = alternativesOf(schema).map((option) => insideOf(option, schemas));
  const objects = options.filter((option) => option !== null);
  if (objects.length === 0) return null;
  return objects.length === 1 ? (objects[0] as Schema) : schema;
}

/** `text or null`, `list of Delivery`, `one of a, b`. */
export function typeOf(given: Schema, schemas: Schemas): string {
  const schema = resolve(given, schemas);
  const name = given.$ref?.slice(REF.length);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.map(String).join(", ")}`;
  const options = [...(schema.anyOf ?? schema.oneOf ?? [])];
  if (options.length > 0) return [...new Set(options.map((option) => typeOf(option, schemas)))].join(" or ");
  if (name !== undefined) return name;
  if (schema.items !== undefined) return `list of ${typeOf(schema.items, schemas)}`;
  if (typeof schema.additionalProperties === "object") {
    return `map of ${typeOf(schema.additionalProperties, schemas)}`;
  }
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return types.length === 0 ? "any JSON" : types.map((type) => WORDS[type] ?? type).join(" or ");
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  boolean: "true or false",
  array: "list",
};

function limitsOf(given: Schema, schemas: Schemas): Html {
  const schema = resolve(given, schemas);
  const [concrete = schema] = alternativesOf(schema).map((option) => resolve(option, schemas));
  const known = { ...concrete, ...schema };
  const range = (low: unknown, high: unknown, what: string): string | null => {
    if (low === undefined && high === undefined) return null;
    if (high === undefined) return `at least ${low}${what}`;
    return low === undefined ? `at most ${high}${what}` : `${low} to ${high}${what}`;
  };
  const highest = known.maximum === Number.MAX_SAFE_INTEGER ? undefined : known.maximum;
  const lowest = known.minimum === Number.MIN_SAFE_INTEGER ? undefined : known.minimum;
  const texts = [
    known.format === "date-time" ? "a time" : null,
    range(lowest, highest, ""),
    range(known.minLength, known.maxLength, " characters"),
    range(known.minItems, known.maxItems, " items"),
    known.default === undefined ? null : `default ${JSON.stringify(known.default)}`,
  ].filter((text) => text !== null);
  return html`${texts.length === 0 ? "" : html` <span class="quiet">${texts.join(", ")}</span>`}`;
}

/** Returns the alternatives except null, which is part of the type. */
function alternativesOf(schema: Schema): readonly Schema[] {
  return (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== "null");
}

export function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...beside } = schema;
  return { ...(schemas[$ref.slice(REF.length)] ?? {}), ...beside };
}
