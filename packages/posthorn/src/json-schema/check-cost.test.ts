// What a check may cost, whatever the schema and the value. Time is that of the processor, since others use it too; a
// step takes 20 to 50 ns, and the bounds here leave room for code that runs for the first time.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CheckBudget, MAX_NESTED_CHECKS, MAX_STEPS, MAX_STEPS_OF_CALL } from "./check-run.ts";
import { compileSchema, type JsonSchema } from "./compile-schema.ts";

const MOST_MS = 500;
const MOST_BYTES = 100 * 1024 * 1024;

function costOf(schema: JsonSchema, value: unknown) {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const budget = new CheckBudget();
  const heapBefore = process.memoryUsage().heapUsed;
  const begun = process.cpuUsage();
  const problem = compiled.check(value, budget);
  const { user, system } = process.cpuUsage(begun);
  return {
    problem,
    steps: MAX_STEPS_OF_CALL - budget.stepsLeft,
    ms: (user + system) / 1_000,
    bytes: process.memoryUsage().heapUsed - heapBefore,
  };
}

const lists = (levels: number): unknown => (levels === 0 ? 1 : [lists(levels - 1)]);
const calls = (levels: number): unknown => (levels === 0 ? 1 : { args: [calls(levels - 1)], op: "xor" });
const operator = (op: string) => ({
  required: ["op", "args"],
  properties: { args: { type: "array", items: { $ref: "#/$defs/term" } }, op: { const: op } },
});
const times = <Value>(count: number, value: (nth: number) => Value): Value[] =>
  Array.from({ length: count }, (_, nth) => value(nth));
const members = (count: number) => Object.fromEntries(times(count, (nth) => [`${"ab".repeat(5)}${nth}`, 1]));

describe("is given up after a bounded time and without growing:", () => {
  test.each<[what: string, schema: JsonSchema, value: unknown]>([
    [
      "a schema that leads back by two branches, of which none matches",
      { items: { type: "array", anyOf: [{ $ref: "#" }, { $ref: "#" }] } },
      lists(60),
    ],
    [
      "a tree of operators that asks for arguments first",
      {
        $ref: "#/$defs/term",
        $defs: { term: { anyOf: [operator("and"), operator("or"), { required: ["literal"] }] } },
      },
      calls(30),
    ],
    ["two ways that both hold", { allOf: [{ items: { $ref: "#" } }, { items: { $ref: "#" } }] }, lists(60)],
    [
      "two ways that remember what they looked at",
      { unevaluatedItems: false, anyOf: [{ items: { $ref: "#" } }, { items: { $ref: "#" } }] },
      lists(60),
    ],
    [
      "many patterns for many names",
      { patternProperties: Object.fromEntries(times(300, (nth) => [`^(a|b|ab)*c${nth}$`, {}])) },
      members(10_000),
    ],
    [
      "many schemas that read all names",
      { allOf: times(900, () => ({ minProperties: 1 })) },
      members(10_000),
    ],
    [
      "many schemas that compare all items",
      { allOf: times(900, () => ({ uniqueItems: true })) },
      times(10_000, (nth) => ({ nth })),
    ],
    [
      "many schemas that count the letters",
      { allOf: times(900, () => ({ maxLength: 100_000 })) },
      "😀".repeat(62_500),
    ],
    [
      "many schemas for every item",
      { items: { allOf: times(200, () => ({ type: "integer" })) } },
      times(100_000, () => 1),
    ],
  ])("%s", (_what, schema, value) => {
    const { problem, steps, ms, bytes } = costOf(schema, value);
    expect(problem).toMatchObject({ pointer: "", isTooComplex: true });
    expect(steps).toBeCloseTo(MAX_STEPS, -3);
    expect(ms).toBeLessThan(MOST_MS);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  test("nested schemas, before the stack is full", () => {
    const chain = (length: number) =>
      times(length, (nth) => [
        `d${nth}`,
        nth === length - 1
          ? { properties: { a: { $ref: "#/$defs/d0" } }, unevaluatedItems: false }
          : { dependentSchemas: { a: { allOf: [{ anyOf: [{ $ref: `#/$defs/d${nth + 1}` }] }] } } },
      ]);
    const schema = { $ref: "#/$defs/d0", $defs: Object.fromEntries(chain(240)) };
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
    expect(costOf(schema, nested(60)).problem).toMatchObject({
      message: expect.stringContaining(`${MAX_NESTED_CHECKS} nested schemas`),
      isTooComplex: true,
    });
  });
});

test("comparing the items of a large value with one another takes linear time", () => {
  const value = times(20, () => times(999, (nth) => ({ a: nth })));
  const { problem, steps } = costOf({ items: { uniqueItems: true } }, value);
  expect(problem).toBeNull();
  expect(steps).toBeLessThan(MAX_STEPS / 2);
});

test("a large value of a plain shape is far from the bound", () => {
  const schema = { items: { type: "object", required: ["a"], properties: { a: { type: "integer" } } } };
  expect(
    costOf(
      schema,
      times(25_000, (nth) => ({ a: nth })),
    ),
  ).toMatchObject({ problem: null });
});

/** Recursive in every keyword that can be; a few keywords at a time, or schemas grow without end themselves. */
const { schema: anySchema } = fc.letrec<{ schema: JsonSchema; part: JsonSchema }>((tie) => {
  const part = tie("part");
  const keyword = fc.oneof(
    fc.tuple(fc.constant("type"), fc.constantFrom("array", "object", ["array", "object", "number"])),
    fc.tuple(
      fc.constantFrom("items", "contains", "not", "if", "additionalProperties", "unevaluatedItems"),
      part,
    ),
    fc.tuple(fc.constantFrom("anyOf", "allOf", "oneOf"), fc.array(part, { minLength: 1, maxLength: 3 })),
    fc.tuple(fc.constant("properties"), fc.dictionary(fc.constantFrom("a", "b"), part, { maxKeys: 2 })),
  );
  return {
    part: fc.oneof(
      { maxDepth: 2 },
      fc.nat(2).map((nth) => ({ $ref: `#/$defs/d${nth}` })),
      tie("schema"),
    ),
    schema: fc.array(keyword, { minLength: 1, maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  };
});

const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(1, "x", null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 }),
  ),
}));
const deepValue = fc
  .tuple(anyValue, fc.array(fc.boolean(), { minLength: 0, maxLength: 55 }))
  .map(([inner, levels]) =>
    levels.reduce<unknown>((value, isList) => (isList ? [value] : { a: value }), inner),
  );

test("any recursive schema and any nested value stay within the steps, the time and the memory", () => {
  let tried = 0;
  fc.assert(
    fc.property(
      anySchema,
      fc.tuple(anySchema, anySchema, anySchema),
      deepValue,
      (root, [d0, d1, d2], value) => {
        const schema = { ...root, $defs: { d0, d1, d2 } };
        if (!compileSchema(schema).ok) return;
        tried += 1;
        const { steps, ms, bytes } = costOf(schema, value);
        // the last step may be a large one
        expect(steps).toBeLessThanOrEqual(MAX_STEPS);
        expect(ms).toBeLessThan(MOST_MS);
        expect(bytes).toBeLessThan(MOST_BYTES);
      },
    ),
    { numRuns: 200, endOnFailure: true },
  );
  expect(tried).toBeGreaterThan(50);
}, 30_000);
