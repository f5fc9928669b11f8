// Renders JSON schemas as HTML: the type of each field, its limits and its nested fields. Components are linked.
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

export type Schemas = Readonly<Record<string, Schema>>;

export const REF = "#/components/schemas/";

/** Renders the fields that the schema itself defines as a table, or those of each alternative. */
export function fieldsOf(schema: Schema): Html {
  const options = alternativesOf(schema);
  if (options.length > 1) return html`${options.map(optionOf)}`;
  const { properties, items, additionalProperties, required = [] } = options[0] ?? schema;
  const inner = items ?? additionalProperties;
  if (properties === undefined) return typeof inner === "object" ? fieldsOf(inner) : html``;
  return html`<table class="fields">${Object.entries(properties).map(([name, field]) =>
    rowOf(name, field, required.includes(name)),
  )}</table>`;
}

function optionOf(option: Schema): Html {
  const { title, description } = option;
  const words = title === undefined ? typeOf(option) : html`${title}: ${prose(description ?? "")}`;
  return html`<p class="quiet">Either ${words}</p>${fieldsOf(option)}`;
}

function rowOf(name: string, field: Schema, isRequired: boolean): Html {
  const more = fieldsOf(field);
  return html`<tr><th scope="row"><code>${name}</code> ${!isRequired && html`<span class="quiet">optional</span>`}</th>
<td><span class="type">${typeOf(field)}</span>${limitsOf(field)}${field.description && html`<p>${prose(field.description)}</p>`}${
    more.text !== "" && html`<details><summary>Its fields</summary>${more}</details>`
  }</td></tr>`;
}

/** `text or null`, `list of Delivery`, `one of a, b`. */
export function typeOf(schema: Schema): Html {
  const name = schema.$ref?.slice(REF.length);
  if (name !== undefined) return html`<a href="#${name}">${name}</a>`;
  if (schema.const !== undefined) return html`${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined) return html`one of ${schema.enum.map(String).join(", ")}`;
  const options = schema.anyOf ?? schema.oneOf ?? [];
  const names = new Map(options.map(typeOf).map((type) => [type.text, type]));
  if (names.size > 0)
    return html`${[...names.values()].map((type, at) => (at === 0 ? type : html` or ${type}`))}`;
  if (schema.items !== undefined) return html`list of ${typeOf(schema.items)}`;
  if (typeof schema.additionalProperties === "object")
    return html`map of ${typeOf(schema.additionalProperties)}`;
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return html`${types.length === 0 ? "any JSON" : types.map((type) => WORDS[type] ?? type).join(" or ")}`;
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  boolean: "true or false",
  array: "list",
};

function limitsOf(schema: Schema): Html {
  const known = { ...alternativesOf(schema)[0], ...schema };
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
