import { describe, expect, test } from "vitest";
import { MAX_STEPS } from "./check-run.ts";
import { compileSchema, type JsonSchema } from "./compile-schema.ts";
import { MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SCHEMAS_IN_PLACE } from "./schema-limits.ts";

/** The pointer of the first problem of the schema, or null if it is valid. */
function refusedAt(schema: unknown): string | null {
  const compiled = compileSchema(schema);
  return compiled.ok ? null : (compiled.problems[0]?.pointer ?? "nowhere");
}

function problemWith(schema: JsonSchema, value: unknown) {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.check(value);
}

const nested = (levels: number): JsonSchema =>
  levels === 1 ? { type: "string" } : { properties: { inner: nested(levels - 1) } };
const described = (bytes: number): JsonSchema => {
  const empty = JSON.stringify({ description: "" }).length;
  return { description: "x".repeat(bytes - empty) };
};
/** Each refers to the next twice. */
const doubling = (levels: number): JsonSchema => {
  const $defs = Object.fromEntries(
    Array.from({ length: levels }, (_, level) => [
      `d${level}`,
      level === levels - 1
        ? { type: "string" }
        : { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
    ]),
  );
  return { $ref: "#/$defs/d0", $defs };
};
const sideBySide = (schemas: number): JsonSchema => ({ allOf: Array(schemas).fill({ type: "string" }) });

describe("a schema is rejected with a pointer:", () => {
  test.each<[what: string, schema: unknown, pointer: string]>([
    ["that is not an object", [], ""],
    ["whose keyword has the wrong type", { properties: { a: { minimum: "1" } } }, "/properties/a/minimum"],
    ["that refers to another document", { items: { $ref: "other.json" } }, "/items/$ref"],
    ["with a reference to a missing schema", { $ref: "#/$defs/none" }, "/$ref"],
    ["that refers to itself in a circle", { $ref: "#" }, ""],
    [
      "whose parts do",
      { properties: { a: { $ref: "#/$defs/x" } }, $defs: { x: { anyOf: [{ $ref: "#/$defs/x" }] } } },
      "/properties/a",
    ],
    ["of another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, "/$schema"],
    ["with a name inside", { properties: { a: { $id: "x" } } }, "/properties/a/$id"],
    ["with an anchor", { $defs: { x: { $anchor: "a" } } }, "/$defs/x/$anchor"],
    [
      "with a pattern for names that looks ahead",
      { patternProperties: { "(?=a)/": {} } },
      "/patternProperties/(?=a)~1",
    ],
    ["one level too deep", nested(MAX_SCHEMA_DEPTH + 1), "/properties/inner".repeat(MAX_SCHEMA_DEPTH)],
    ["one byte too large", described(MAX_SCHEMA_BYTES + 1), ""],
    ["that doubles again and again", doubling(30), ""],
    ["with too many schemas for a value", sideBySide(MAX_SCHEMAS_IN_PLACE), ""],
    ["with a type that there is not", { type: "text" }, "/type"],
    ["without a value to be one of", { enum: [] }, "/enum"],
    ["with a property that has no schema", { properties: { a: "string" } }, "/properties"],
    ["with a keyword that is no more", { dependencies: { a: ["b"] } }, "/dependencies"],
  ])("%s", (_what, schema, pointer) => {
    expect(refusedAt(schema)).toBe(pointer);
  });
});

describe("a schema may be", () => {
  test.each<[what: string, schema: unknown]>([
    ["as deep as the limit", nested(MAX_SCHEMA_DEPTH)],
    ["as large as the limit", described(MAX_SCHEMA_BYTES)],
    ["as many for a value as the limit", sideBySide(MAX_SCHEMAS_IN_PLACE - 1)],
    ["comparing all items", { uniqueItems: true }],
    ["recursive in its data", { properties: { child: { $ref: "#" } } }],
    [
      "about a property called $ref",
      { properties: { $ref: { type: "string" } }, enum: [{ $ref: "https://x" }] },
    ],
    [
      "of its own name and dialect",
      { $id: "https://x/y", $schema: "https://json-schema.org/draft/2020-12/schema" },
    ],
    ["with an unknown format", { format: "iban" }],
  ])("%s", (_what, schema) => {
    expect(refusedAt(schema)).toBeNull();
  });
});

test.each<[what: string, schema: JsonSchema, value: unknown, pointer: string, message: string]>([
  ["a type", { properties: { a: { type: "integer" } } }, { a: 1.5 }, "/a", "must be integer"],
  ["several types", { type: ["string", "null"] }, 1, "", "must be string or null"],
  ["what is missing", { required: ["a/b"] }, {}, "/a~1b", "is missing"],
  [
    "what is too much",
    { additionalProperties: false },
    { x: 1 },
    "/x",
    "is not a property that the schema knows",
  ],
  ["a list of values", { enum: ["EUR", 1] }, "USD", "", 'must be one of "EUR", 1'],
  ["a constant", { const: "a" }, "b", "", 'must be "a"'],
  ["a pattern", { items: { pattern: "^a$" } }, ["a", "b"], "/1", 'must match pattern "^a$"'],
  [
    "a choice",
    { anyOf: [{ type: "string" }, { required: ["a"] }] },
    {},
    "",
    "must match one of the schemas in anyOf",
  ],
  ["a format", { format: "date-time" }, "yesterday", "", "must be a valid date-time"],
])("%s that does not match is reported with a pointer", (_what, schema, value, pointer, message) => {
  expect(problemWith(schema, value)).toEqual({ pointer, message, isTooComplex: false });
});

test("a large pattern applied to a long text is too expensive, either alone is not", () => {
  const large = { pattern: "[^x]{490}y" };
  expect(problemWith(large, `${"a".repeat(1_500)}y`)).toBeNull();
  expect(problemWith({ pattern: "y$" }, `${"a".repeat(250_000)}y`)).toBeNull();
  expect(problemWith(large, `${"a".repeat(250_000)}y`)).toMatchObject({
    message: expect.stringContaining(`${MAX_STEPS}`),
    isTooComplex: true,
  });
});

test.each([
  ["a bound that was not asked for", { uniqueItems: true }],
  ["a schema", { type: "string" }],
])("%s outside of a schema cannot be referred to", (_what, hidden) => {
  const schema = { properties: { a: { $ref: "#/default/hidden" } }, default: { hidden } };
  expect(refusedAt(schema)).toBe("/properties/a/$ref");
  expect(refusedAt({ items: { $ref: "#/$defs/any" }, $defs: { any: true } })).toBeNull();
});

test("inherited members of objects are not properties", () => {
  const schema = { properties: { constructor: { type: "string" } } };
  expect(problemWith(schema, { a: 1 })).toBeNull();
  expect(problemWith(schema, { constructor: 1 })).toMatchObject({ pointer: "/constructor" });
  expect(problemWith({ required: ["toString"] }, {})).toMatchObject({ pointer: "/toString" });
});
