// The valid values of each keyword of JSON Schema 2020-12. Other keywords are annotations with any value.
import { isObject } from "@posthorn/wire";

export type Shape = readonly [isRight: (value: unknown) => boolean, is: string];

const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"];

const isText = (value: unknown) => typeof value === "string";
const isSchema = (value: unknown) => typeof value === "boolean" || isObject(value);
const isNames = (value: unknown) =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isMapOf = (isRight: (value: unknown) => boolean) => (value: unknown) =>
  isObject(value) && Object.values(value).every(isRight);
const isType = (value: unknown) => TYPES.includes(value as string);

export const ANYTHING: Shape = [() => true, "anything"];
const number: Shape = [(value) => typeof value === "number", "a number"];
const count: Shape = [(value) => Number.isInteger(value) && (value as number) >= 0, "a whole number from 0"];
const text: Shape = [isText, "text"];
const flag: Shape = [(value) => typeof value === "boolean", "true or false"];
const schema: Shape = [isSchema, "a schema: an object, true or false"];
const schemas: Shape = [
  (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  "a list of at least one schema",
];
const schemasByName: Shape = [isMapOf(isSchema), "an object of schemas"];

export const SHAPES: Readonly<Record<string, Shape>> = {
  type: [
    (value) =>
      isType(value) ||
      (isNames(value) && (value as unknown[]).length > 0 && (value as unknown[]).every(isType)),
    `one of ${TYPES.join(", ")}, or a list of them`,
  ],
  nullable: flag,
  enum: [(value) => Array.isArray(value) && value.length > 0, "a list of at least one value"],
  multipleOf: [(value) => typeof value === "number" && value > 0, "a number above 0"],
  maximum: number,
  minimum: number,
  exclusiveMaximum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: text,
  format: text,
  maxItems: count,
  minItems: count,
  uniqueItems: flag,
  contains: schema,
  maxContains: count,
  minContains: count,
  prefixItems: schemas,
  items: schema,
  unevaluatedItems: schema,
  maxProperties: count,
  minProperties: count,
  required: [isNames, "a list of different names"],
  dependentRequired: [isMapOf(isNames), "an object of lists of different names"],
  dependentSchemas: schemasByName,
  properties: schemasByName,
  patternProperties: schemasByName,
  additionalProperties: schema,
  propertyNames: schema,
  unevaluatedProperties: schema,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: schema,
  else: schema,
  $defs: schemasByName,
  definitions: schemasByName,
  $id: text,
  $comment: text,
  title: text,
  description: text,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  examples: [Array.isArray, "a list"],
};

const keywordsOf = (shape: Shape) => Object.keys(SHAPES).filter((keyword) => SHAPES[keyword] === shape);

/** The keywords that contain one subschema, a list of them, and subschemas by name. */
export const SCHEMAS: readonly string[] = [...keywordsOf(schema), "contentSchema"];
export const SCHEMA_LISTS: readonly string[] = keywordsOf(schemas);
export const MAPS: readonly string[] = keywordsOf(schemasByName);

/** Keywords of older drafts, which would be ignored. */
export const OLD_KEYWORDS: Readonly<Record<string, string>> = {
  dependencies: '"dependentRequired" or "dependentSchemas"',
  additionalItems: '"items" beside "prefixItems"',
};
