// The cost of a check is bounded for every schema and value. Time is processor time, since tests run in parallel; a
// step takes 20 to 50 ns, and the bounds here allow for code that is not yet optimised.
import { describe, expect, test } from "vitest";
import { startCpuTime } from "../../../../tests/support/cpu-time.ts";
import { CheckBudget, MAX_NESTED_CHECKS, MAX_STEPS, MAX_STEPS_OF_CALL } from "./check-run.ts";
import { compileSchema, type JsonSchema } from "./compile-schema.ts";

const MOST_MS = 500;
const MOST_BYTES = 100 * 1024 * 1024;

function costOf(schema: JsonSchema, value: unknown) {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const budget = new CheckBudget();
  const heapBefore = process.memoryUsage().heapUsed;
  const msSince = startCpuTime();
  const problem = compiled.check(value, budget);
  const ms = msSince();
  return {
    problem,
    steps: MAX_STEPS_OF_CALL - budget.stepsLeft,
    ms,
    bytes: process.memoryUsage().heapUsed - heapBefore,
  };
}

const lists = (levels: number): unknown => (levels === 0 ? 1 : [lists(levels - 1)]);
const times = <Value>(count: number, value: (nth: number) => Value): Value[] =>
  Array.from({ length: count }, (_, nth) => value(nth));
const members = (count: number) => Object.fromEntries(times(count, (nth) => [`${"ab".repeat(5)}${nth}`, 1]));

describe("is stopped after a bounded time, with bounded memory:", () => {
  test.each<[what: string, schema: JsonSchema, value: unknown]>([
    [
      "a schema that leads back by two branches, of which none matches",
      { items: { type: "array", anyOf: [{ $ref: "#" }, { $ref: "#" }] } },
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

  test("nested schemas, before the stack overflows", () => {
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

test("comparing the items of a large array takes linear time", () => {
  const value = times(20, () => times(999, (nth) => ({ a: nth })));
  const { problem, steps } = costOf({ items: { uniqueItems: true } }, value);
  expect(problem).toBeNull();
  expect(steps).toBeLessThan(MAX_STEPS / 2);
});
