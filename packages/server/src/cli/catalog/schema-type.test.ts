// TypeScript types of JSON Schemas.
import { expect, test } from "vitest";
import { schemaType } from "./schema-type.ts";
import { typesText } from "./types-text.ts";

const oneLine = (schema: unknown) =>
  schemaType(schema, (reference) => `Of<${reference}>`).replaceAll(/\s+/g, " ");

test.each<[schema: unknown, type: string]>([
  [true, "unknown"],
  [false, "never"],
  [{}, "unknown"],
  [{ type: "string", minLength: 1, pattern: "a" }, "string"],
  [{ type: "integer" }, "number"],
  [{ type: ["string", "null"] }, "string | null"],
  [{ type: "string", nullable: true }, "string | null"],
  [{ type: ["integer", "number"] }, "number"],
  [{ const: { a: [1, null] } }, "{ a: [1, null] }"],
  [{ enum: ["a", 1, false] }, '"a" | 1 | false'],
  [{ type: "array", items: { type: ["string", "null"] } }, "(string | null)[]"],
  [{ type: "array" }, "unknown[]"],
  [{ items: false }, "[]"],
  [{ prefixItems: [{ type: "string" }, { enum: [1, 2] }], minItems: 1, items: false }, "[string, (1 | 2)?]"],
  [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, "[string?, ...number[]]"],
  [{ type: "object" }, "{ [key: string]: unknown; }"],
  [{ type: "object", additionalProperties: false }, "Record<string, never>"],
  [{ additionalProperties: { type: "number" } }, "{ [key: string]: number; }"],
  [
    { properties: { "a-b": { type: "string" }, c: {} }, required: ["c", "d"] },
    '{ "a-b"?: string; c: unknown; d: unknown; [key: string]: unknown; }',
  ],
  [{ properties: { a: { type: "null" } }, additionalProperties: false }, "{ a?: null; }"],
  [{ $ref: "#/$defs/a" }, "Of<#/$defs/a>"],
  [
    { allOf: [{ $ref: "#" }, { anyOf: [{ type: "string" }, { type: "number" }] }] },
    "Of<#> & (string | number)",
  ],
  [{ oneOf: [{ type: "string" }, true] }, "unknown"],
  [{ anyOf: [{ const: 1 }, { const: 1 }] }, "1"],
  [{ not: { type: "string" } }, "unknown"],
])("%j is %s", (schema, type) => {
  expect(oneLine(schema)).toBe(type);
});

test("a description cannot end its comment", () => {
  const schema = { properties: { a: { description: "one */ alert()\ntwo" } }, additionalProperties: false };
  expect(schemaType(schema, String)).toBe(
    "{\n  /**\n   * one *\\/ alert()\n   * two\n   */\n  a?: unknown;\n}",
  );
});

test("definitions and types of the same name get different names, whatever the order of the list", () => {
  const type = (name: string, schema: object | null = null) => ({
    name,
    api_version: "2026-01-01",
    description: null,
    schema: schema as never,
    example: null,
    redact: [],
    deprecated: false,
  });
  const $defs = { "x/y": { type: "string" } };
  const types = [type("a_b"), type("a.b", { $ref: "#/$defs/x~1y", $defs }), type("1st")];
  const text = typesText(types);
  expect(text).toContain("export type ABV2026_01_01 = ABV2026_01_01XY;\n");
  expect(text).toContain("export type ABV2026_01_01XY = string;\n");
  expect(text).toContain("export type ABV2026_01_01_2 = unknown;\n");
  expect(text).toContain("export type _1stV2026_01_01 = unknown;\n");
  expect(text).toContain('  "a_b": {\n    "2026-01-01": ABV2026_01_01_2;\n  };\n');
  expect(typesText(types.toReversed())).toBe(text);
});

test("an empty catalogue has no types", () => {
  expect(typesText([])).toContain("export type EventTypes = {\n};\n");
});
