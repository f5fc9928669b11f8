// Checks a JSON schema before it is compiled: bounded in size, self-contained, and cheap to evaluate for every value.

import { escapePointer, isObject, unescapePointer } from "@posthorn/wire";
import type { InputProblem } from "../errors.ts";
import { jsonText } from "./json-text.ts";
import { ANYTHING, MAPS, OLD_KEYWORDS, SCHEMA_LISTS, SCHEMAS, SHAPES, type Shape } from "./keyword-shapes.ts";
import { linearPattern, PatternError } from "./linear-pattern.ts";

export const MAX_SCHEMA_BYTES = 64 * 1024;
export const MAX_SCHEMA_DEPTH = 32;
/** Schemas that apply to the same value, including references. */
export const MAX_SCHEMAS_IN_PLACE = 1_000;

type Schema = Readonly<Record<string, unknown>>;

const DIALECTS =
  /^https?:\/\/(json-schema\.org\/draft\/2020-12\/schema|spec\.openapis\.org\/oas\/3\.1\/dialect\/base)#?$/;
/** Keywords that would make a schema addressable from outside. */
const REFUSED = [
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$recursiveRef",
  "$recursiveAnchor",
  "$vocabulary",
];

/** Returns problems with pointers into the schema. */
export function schemaProblems(schema: unknown): InputProblem[] {
  if (!isObject(schema)) return [{ pointer: "", message: "A schema is a JSON object." }];
  const text = jsonText(schema);
  if (text === null) return [{ pointer: "", message: "The schema has no JSON, or is nested far too deep." }];
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_SCHEMA_BYTES) {
    const message = `The schema has ${bytes} bytes; the limit is ${MAX_SCHEMA_BYTES}.`;
    return [{ pointer: "", message }];
  }
  const problems: InputProblem[] = [];
  walk(schema, "", 1, problems);
  if (problems.length === 0) checkTargets(schema, problems);
  if (problems.length === 0) checkInPlace(schema, problems);
  return problems;
}

function walk(schema: Schema, pointer: string, depth: number, problems: InputProblem[]): void {
  const refuse = (keyword: string, message: string) =>
    problems.push({ pointer: `${pointer}/${keyword}`, message });
  if (depth > MAX_SCHEMA_DEPTH) {
    problems.push({ pointer, message: `The schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels.` });
    return;
  }
  checkReferences(schema, pointer === "", refuse);
  checkPattern(schema.pattern, "pattern", refuse);
  checkShapes(schema, refuse);
  const { patternProperties } = schema;
  if (isObject(patternProperties)) {
    for (const source of Object.keys(patternProperties)) {
      checkPattern(source, `patternProperties/${escapePointer(source)}`, refuse);
    }
  }
  for (const [path, inner] of children(schema)) walk(inner, pointer + path, depth + 1, problems);
}

function checkShapes(schema: Schema, refuse: (keyword: string, message: string) => void): void {
  for (const [keyword, value] of Object.entries(schema)) {
    const [isRight, is] = Object.hasOwn(SHAPES, keyword) ? (SHAPES[keyword] as Shape) : ANYTHING;
    if (!isRight(value)) refuse(keyword, `"${keyword}" is ${is}.`);
    const today = Object.hasOwn(OLD_KEYWORDS, keyword) ? OLD_KEYWORDS[keyword] : undefined;
    if (today !== undefined) refuse(keyword, `"${keyword}" is of an older JSON Schema; use ${today}.`);
  }
}

function checkReferences(
  { $ref, $id, $schema, ...rest }: Schema,
  isRoot: boolean,
  refuse: (keyword: string, message: string) => void,
): void {
  if ($ref !== undefined && !(typeof $ref === "string" && /^#(\/|$)/.test($ref))) {
    refuse("$ref", '"$ref" must point into the schema itself, such as #/$defs/money: nothing is fetched.');
  }
  if ($id !== undefined && !isRoot) refuse("$id", '"$id" may stand at the top only.');
  if ($schema !== undefined && !(typeof $schema === "string" && DIALECTS.test($schema))) {
    refuse("$schema", 'Schemas are of JSON Schema 2020-12; leave "$schema" out.');
  }
  for (const keyword of REFUSED) {
    if (rest[keyword] !== undefined)
      refuse(keyword, `"${keyword}" is not supported; use "$ref" to #/$defs/….`);
  }
}

function checkPattern(
  source: unknown,
  keyword: string,
  refuse: (keyword: string, message: string) => void,
): void {
  if (typeof source !== "string") return;
  try {
    linearPattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    refuse(keyword, `The pattern cannot be used: ${error.message}.`);
  }
}

/** Reference targets outside known keywords have not been checked, but would be compiled. */
function checkTargets(root: Schema, problems: InputProblem[]): void {
  const schemas = new Set<unknown>();
  const references: [pointer: string, target: unknown][] = [];
  const visit = (schema: Schema, pointer: string): void => {
    schemas.add(schema);
    const { $ref } = schema;
    if (typeof $ref === "string") references.push([`${pointer}/$ref`, schemaAt(root, $ref.slice(1))]);
    for (const [path, inner] of children(schema)) visit(inner, pointer + path);
  };
  visit(root, "");
  for (const [pointer, target] of references) {
    if (typeof target === "boolean" || schemas.has(target)) continue;
    problems.push({ pointer, message: '"$ref" refers to no schema. Put it under "$defs", and point there.' });
  }
}

/** Rejects circular references, which never end, and branching ones, which would be followed millions of times. */
function checkInPlace(root: Schema, problems: InputProblem[]): void {
  const weights = new Map<Schema, number>();
  const open = new Set<Schema>();
  const weigh = (schema: Schema): number => {
    const known = weights.get(schema);
    if (known !== undefined) return known;
    if (open.has(schema)) return Number.POSITIVE_INFINITY;
    open.add(schema);
    let weight = 1;
    for (const inner of inPlace(schema, root)) weight += weigh(inner);
    open.delete(schema);
    weights.set(schema, weight);
    return weight;
  };
  const visit = (schema: Schema, pointer: string): void => {
    const weight = weigh(schema);
    if (weight > MAX_SCHEMAS_IN_PLACE) {
      const message =
        weight === Number.POSITIVE_INFINITY
          ? "The schema refers to itself for the same value: checking it would never end."
          : `More than ${MAX_SCHEMAS_IN_PLACE} schemas apply to one value here, references counted each time.`;
      problems.push({ pointer, message });
      return;
    }
    for (const [path, inner] of children(schema)) visit(inner, pointer + path);
  };
  visit(root, "");
}

function inPlace(schema: Schema, root: Schema): Schema[] {
  const { $ref, allOf, anyOf, oneOf, not, dependentSchemas } = schema;
  const lists = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const ones = [not, schema.if, schema.then, schema.else];
  const dependent = isObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
  const target = typeof $ref === "string" ? schemaAt(root, $ref.slice(1)) : undefined;
  return [...lists, ...ones, ...dependent, target].filter(isObject);
}

/** Returns the value at a percent-encoded JSON Pointer. */
export function schemaAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split("/").slice(1)) {
    const name = unescapePointer(decoded(part));
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the subschemas. `const`, `enum`, `default` and `examples` contain data. */
export function children(schema: Schema): [path: string, inner: Schema][] {
  const found: [string, unknown][] = [];
  for (const keyword of SCHEMAS) found.push([`/${keyword}`, schema[keyword]]);
  for (const keyword of SCHEMA_LISTS) {
    const list = schema[keyword];
    if (Array.isArray(list)) for (const [at, item] of list.entries()) found.push([`/${keyword}/${at}`, item]);
  }
  for (const keyword of MAPS) {
    const map = schema[keyword];
    if (!isObject(map)) continue;
    for (const [name, inner] of Object.entries(map))
      found.push([`/${keyword}/${escapePointer(name)}`, inner]);
  }
  return found.filter((entry): entry is [string, Schema] => isObject(entry[1]));
}
