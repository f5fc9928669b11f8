import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failedCondition, maxElements, readFacts } from "./filter.ts";
import { parseFilter } from "./parse-filter.ts";

/** The pointer of the first condition that fails; null: it matches. */
function failure(filter: unknown, facts: { data: unknown; subject?: string | null }): string | null {
  const parsed = parseFilter(filter);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return failedCondition(parsed.filter, { subject: null, ...facts })?.pointer ?? null;
}

const matches = (filter: unknown, data: unknown): boolean => failure({ data: filter }, { data }) === null;

/** Condition on `data`, and the payloads it holds for and does not hold for, as JSON. */
const truth: readonly [condition: unknown, holds: readonly string[], fails: readonly string[]][] = [
  // equality
  [
    { a: 1 },
    ['{"a":1}', '{"a":1.0}', '{"a":1e0}', '{"b":2,"a":1}'],
    ['{"a":2}', '{"a":"1"}', '{"a":true}', "{}"],
  ],
  [{ a: 0 }, ['{"a":0}', '{"a":-0}'], ['{"a":false}', '{"a":null}', '{"a":""}']],
  [{ a: "x" }, ['{"a":"x"}', '{"a":"\\u0078"}'], ['{"a":"X"}', '{"a":"x "}', '{"a":null}']],
  [{ a: true }, ['{"a":true}'], ['{"a":1}', '{"a":"true"}', '{"a":false}']],
  [{ a: { $eq: "x" } }, ['{"a":"x"}'], ['{"a":"y"}', "{}"]],
  [{ a: { $ne: "x" } }, ['{"a":"y"}', '{"a":null}', "{}", "5", '{"a":{}}'], ['{"a":"x"}']],
  // null is a value; what is missing is not null
  [{ a: null }, ['{"a":null}'], ["{}", '{"a":0}', '{"a":""}', "null"]],
  [{ a: { $ne: null } }, ['{"a":0}', "{}"], ['{"a":null}']],
  [{ a: { $exists: true } }, ['{"a":null}', '{"a":0}', '{"a":[]}'], ["{}", '{"b":1}', "[]", "null"]],
  [{ a: { $exists: false } }, ["{}", '{"b":1}', "7", "null"], ['{"a":null}', '{"a":1}']],
  // one of several
  [{ a: { $in: ["x", 1, null] } }, ['{"a":"x"}', '{"a":1}', '{"a":null}'], ["{}", '{"a":"1"}', '{"a":"y"}']],
  [{ a: { $nin: ["x", 1] } }, ["{}", '{"a":"1"}', '{"a":null}'], ['{"a":"x"}', '{"a":1.0}']],
  // ranges: numbers with numbers, texts with texts
  [{ a: { $gt: 5 } }, ['{"a":5.01}', '{"a":6}', '{"a":1e400}'], ['{"a":5}', '{"a":"6"}', "{}", '{"a":null}']],
  [{ a: { $gte: 5 } }, ['{"a":5}', '{"a":5.0}'], ['{"a":4.99}', '{"a":true}', '{"a":"5"}']],
  [{ a: { $lt: 5 } }, ['{"a":4}', '{"a":-1e400}'], ['{"a":5}', '{"a":null}', "{}", '{"a":""}']],
  [{ a: { $lte: 5 } }, ['{"a":5}'], ['{"a":5.1}', '{"a":false}']],
  [{ a: { $gte: 1, $lt: 3 } }, ['{"a":1}', '{"a":2.9}'], ['{"a":0}', '{"a":3}']],
  [
    { a: { $gte: "2026-11-01", $lt: "2026-12-01" } },
    ['{"a":"2026-11-15T09:30:00Z"}', '{"a":"2026-11-01"}'],
    ['{"a":"2026-12-01"}', '{"a":"2025-11-15"}', '{"a":20261115}'],
  ],
  // beyond 2^53 a payload's numbers are rounded, and still on the right side of what a filter can ask
  [{ a: 9007199254740991 }, ['{"a":9007199254740991}'], ['{"a":9007199254740992}', '{"a":9007199254740993}']],
  [{ a: { $gt: 9007199254740991 } }, ['{"a":9007199254740993}'], ['{"a":9007199254740991}']],
  // prefix
  [
    { a: { $startsWith: "or" } },
    ['{"a":"order"}', '{"a":"or"}'],
    ['{"a":"o"}', '{"a":"Order"}', '{"a":1}', "{}"],
  ],
  [{ a: { $startsWith: ".*" } }, ['{"a":".*x"}'], ['{"a":"xx"}']],
  // nested, and side by side: all must hold
  [{ a: { b: { c: 1 } } }, ['{"a":{"b":{"c":1}}}'], ['{"a":{"b":1}}', '{"a":null}', '{"a":"b"}', "{}"]],
  [{ a: 1, b: 2 }, ['{"a":1,"b":2}'], ['{"a":1}', '{"b":2}', '{"a":2,"b":1}']],
  // and, or, not: anywhere
  [{ $or: [{ a: 1 }, { b: 2 }] }, ['{"a":1}', '{"b":2}', '{"a":1,"b":3}'], ["{}", '{"a":2,"b":1}']],
  [{ a: { $or: [{ $lt: 1 }, { $gt: 9 }, "x"] } }, ['{"a":0}', '{"a":10}', '{"a":"x"}'], ['{"a":5}', "{}"]],
  [{ $and: [{ a: { $gt: 1 } }, { a: { $lt: 3 } }] }, ['{"a":2}'], ['{"a":1}', '{"a":3}']],
  [{ a: { $not: { $gt: 5 } } }, ['{"a":5}', '{"a":"x"}', "{}"], ['{"a":6}']],
  [{ a: { $not: "x" } }, ['{"a":"y"}', "{}"], ['{"a":"x"}']],
  [{ $not: { a: 1, b: 2 } }, ['{"a":1}', "{}"], ['{"a":1,"b":2}']],
  [{ a: { $not: { $not: 1 } } }, ['{"a":1}'], ['{"a":2}', "{}"]],
  // an array matches when one of its elements does
  [{ a: "x" }, ['{"a":["x"]}', '{"a":["y","x"]}', '{"a":[["x"]]}'], ['{"a":[]}', '{"a":["y"]}']],
  [{ a: { $in: ["x", "y"] } }, ['{"a":["z","y"]}'], ['{"a":["z"]}', '{"a":[]}']],
  // what stands side by side is asked of the same element
  [{ a: { $gt: 1, $lt: 5 } }, ['{"a":[9,3]}'], ['{"a":[0,9]}']],
  [{ a: { b: 1, c: 2 } }, ['{"a":[{"b":0},{"b":1,"c":2}]}'], ['{"a":[{"b":1},{"c":2}]}', '{"a":[]}']],
  [{ a: { $and: [{ b: 1 }, { c: 2 }] } }, ['{"a":[{"b":1},{"c":2}]}'], ['{"a":[{"b":1}]}']],
  // negations: no element
  [{ a: { $ne: "x" } }, ['{"a":["y"]}', '{"a":[]}'], ['{"a":["y","x"]}']],
  [{ a: { $nin: ["x", "z"] } }, ['{"a":["y"]}'], ['{"a":["y","z"]}']],
  [{ a: { $not: { b: 1 } } }, ['{"a":[{"b":2}]}', '{"a":[]}'], ['{"a":[{"b":2},{"b":1}]}']],
  [
    { a: { b: 1, c: { $ne: 2 } } },
    ['{"a":[{"b":1,"c":3}]}', '{"a":[{"b":1}]}'],
    ['{"a":[{"b":1,"c":2},{"b":3}]}'],
  ],
  [{ a: { b: { $exists: false } } }, ['{"a":[{"b":1},{}]}', "{}"], ['{"a":[{"b":1}]}', '{"a":[]}']],
  [{ a: { $exists: true, $eq: 1 } }, ['{"a":1}', '{"a":[1]}'], ['{"a":[]}', "{}"]],
  // names that mean something elsewhere
  [{ $$ref: "x" }, ['{"$ref":"x"}'], ['{"$$ref":"x"}', '{"ref":"x"}']],
  [{ $$eq: 1 }, ['{"$eq":1}'], ["1", '{"eq":1}']],
  [JSON.parse('{"__proto__": {"a": 1}}'), ['{"__proto__":{"a":1}}'], ["{}", '{"a":1}']],
  [{ constructor: { $exists: true } }, ['{"constructor":1}'], ["{}", "[]"]],
  [{ length: 1 }, ['{"length":1}'], ["[1]", '["x"]', '"x"']],
  [{ "": 1, "a/b": { "~": 2 } }, ['{"":1,"a/b":{"~":2}}'], ['{"":1}']],
  // of two fields of one name the last counts
  [{ a: 2 }, ['{"a":1,"a":2}'], ['{"a":2,"a":1}']],
];

describe.each(truth)("%j", (condition, holds, fails) => {
  test.each(holds)("matches %s", (payload) => {
    expect(matches(condition, JSON.parse(payload))).toBe(true);
  });
  test.each(fails)("does not match %s", (payload) => {
    expect(matches(condition, JSON.parse(payload))).toBe(false);
  });
});

test("data itself may be a scalar or an array", () => {
  expect(matches({ $gt: 3 }, 5)).toBe(true);
  expect(matches("x", "x")).toBe(true);
  expect(matches({ a: 1 }, [{ a: 2 }, { a: 1 }])).toBe(true);
  expect(matches({ a: 1 }, "a")).toBe(false);
});

test.each([
  [{ subject: "order-1" }, "order-1", true],
  [{ subject: "order-1" }, null, false],
  [{ subject: { $startsWith: "order-" } }, "order-17", true],
  [{ subject: { $exists: false } }, null, true],
  [{ subject: { $exists: true } }, null, false],
  [{ $or: [{ subject: "a" }, { data: { a: 1 } }] }, "b", true],
  [{ $not: { subject: "a", data: { a: 1 } } }, "a", false],
  [{ subject: "a", data: { a: 1 } }, "a", true],
])("%j with the subject %j and data {a: 1}: %s", (filter, subject, expected) => {
  expect(failure(filter, { data: { a: 1 }, subject }) === null).toBe(expected);
});

test("bytes that are no JSON have no data, and match only what asks for that", () => {
  const facts = readFacts({ payload: Buffer.from("{oh"), subject: "s" });
  expect(failure({ data: { a: 1 } }, facts)).toBe("/data/a");
  expect(failure({ data: { $exists: false } }, facts)).toBeNull();
  expect(failure({ subject: "s" }, facts)).toBeNull();
  const part = Buffer.from('xx{"a":1}').subarray(2);
  expect(failure({ data: { a: 1 } }, readFacts({ payload: new Uint8Array(part), subject: null }))).toBeNull();
  expect(failure({ data: { a: 1 } }, readFacts({ payload: part, subject: null }))).toBeNull();
});

test.each([
  [{ data: { a: 1, b: { $gte: 3 } } }, "/data/b/$gte"],
  [{ data: { c: "x" } }, "/data/c"],
  [{ data: { a: { $exists: false } } }, "/data/a/$exists"],
  [{ data: { $or: [{ a: 2 }, { b: 3 }] } }, "/data/$or"],
  [{ $and: [{ data: { a: 1 } }, { data: { b: 9 } }] }, "/$and/1/data/b"],
  [{ $not: { data: { a: 1 } } }, "/$not"],
  [{ data: { a: { $nin: [0, 1] } } }, "/data/a/$nin"],
  [{ data: { list: { n: { $gt: 5 } } } }, "/data/list/n/$gt"],
  [{ data: { list: { n: 2, m: 2 } } }, "/data/list/n"],
  [{ data: { none: { n: 1 } } }, "/data/none/n"],
  [{ data: { "x/y": 1 } }, "/data/x~1y"],
  [{ subject: "s" }, "/subject"],
])("%j fails at %s", (filter, pointer) => {
  expect(failure(filter, { data: { a: 1, b: 2, list: [{ n: 1 }, { n: 2 }], none: [] } })).toBe(pointer);
});

describe("against an oracle", () => {
  const scalar = fc.oneof(
    fc.constantFrom<unknown>(null, true, false, "", "a", "ab", "b"),
    fc.integer({ min: -2, max: 2 }),
  );
  const name = fc.constantFrom("a", "b", "$c", "__proto__");
  const named = <T>(value: fc.Arbitrary<T>) =>
    fc.array(fc.tuple(name, value), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
  const payload = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      named(tie("value")),
    ),
  })).value;
  const entry = (condition: fc.Arbitrary<unknown>) =>
    fc.oneof(
      fc.tuple(
        name.map((text) => (text.startsWith("$") ? `$${text}` : text)),
        condition,
      ),
      fc.tuple(fc.constantFrom("$eq", "$ne"), scalar),
      fc.tuple(fc.constantFrom("$in", "$nin"), fc.array(scalar, { minLength: 1, maxLength: 3 })),
      fc.tuple(
        fc.constantFrom("$gt", "$gte", "$lt", "$lte"),
        fc.oneof(fc.constantFrom("a", "b"), fc.integer({ min: -2, max: 2 })),
      ),
      fc.tuple(fc.constant("$startsWith"), fc.constantFrom("a", "ab")),
      fc.tuple(fc.constant("$exists"), fc.boolean()),
      fc.tuple(fc.constantFrom("$and", "$or"), fc.array(condition, { minLength: 1, maxLength: 2 })),
      fc.tuple(fc.constant("$not"), condition),
    );
  const condition = fc.letrec((tie) => ({
    place: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      scalar,
      fc
        .array(entry(tie("place")), { minLength: 1, maxLength: 3 })
        .map((entries) => Object.fromEntries(entries) as unknown),
    ),
  })).place;

  test("every filter gives the documented result for every payload", () => {
    fc.assert(
      fc.property(condition, payload, (asked, data) => {
        expect(matches(asked, data)).toBe(oracle(asked, data));
      }),
      { numRuns: 3_000 },
    );
  });
});

/** The rules of docs/reference/filters.md, word by word and without care for speed. */
function oracle(asked: unknown, value: unknown): boolean {
  if (typeof asked !== "object" || asked === null) return oracle({ $eq: asked }, value);
  const entries = Object.entries(asked);
  const isOfWhole = ([key]: [string, unknown]) =>
    ["$ne", "$nin", "$not", "$and", "$or", "$exists"].includes(key);
  const ofElement = entries.filter((entry) => !isOfWhole(entry));
  const candidates = Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value];
  return (
    entries.filter(isOfWhole).every(([key, given]) => oracleOfWhole(key, given, value)) &&
    (ofElement.length === 0 ||
      candidates.some((candidate) => ofElement.every(([key, given]) => oracleOfOne(key, given, candidate))))
  );
}

function oracleOfWhole(key: string, given: unknown, value: unknown): boolean {
  if (key === "$ne") return !oracle({ $eq: given }, value);
  if (key === "$nin") return !oracle({ $in: given }, value);
  if (key === "$not") return !oracle(given, value);
  if (key === "$exists") return (value !== undefined) === given;
  const answers = (given as unknown[]).map((item) => oracle(item, value));
  return key === "$and" ? !answers.includes(false) : answers.includes(true);
}

function oracleOfOne(key: string, given: unknown, value: unknown): boolean {
  const isSameType = typeof value === typeof given;
  if (key === "$eq") return isSameType && JSON.stringify(value) === JSON.stringify(given);
  if (key === "$in") return (given as unknown[]).some((item) => oracleOfOne("$eq", item, value));
  if (key === "$startsWith") return isSameType && (value as string).slice(0, String(given).length) === given;
  if (key === "$gt") return isSameType && (value as string) > (given as string);
  if (key === "$lt") return isSameType && (value as string) < (given as string);
  if (key === "$gte") return oracleOfOne("$gt", given, value) || oracleOfOne("$eq", given, value);
  if (key === "$lte") return oracleOfOne("$lt", given, value) || oracleOfOne("$eq", given, value);
  const name = key.replace(/^\$\$/, "$");
  const fields = new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
  return oracle(given, fields.get(name));
}

describe("the work is linear", () => {
  /** Counts every look at an object or array of the payload. */
  function counted(data: unknown, count: { steps: number }): unknown {
    if (typeof data !== "object" || data === null) return data;
    const copy = Array.isArray(data)
      ? data.map((item) => counted(item, count))
      : Object.fromEntries(Object.entries(data).map(([key, item]) => [key, counted(item, count)]));
    return new Proxy(copy, {
      get: (target, key) => {
        count.steps += 1;
        return Reflect.get(target, key);
      },
    });
  }

  function stepsOf(filter: unknown, data: unknown): number {
    const count = { steps: 0 };
    expect(failure(filter, { data: counted(data, count) })).not.toBeNull();
    return count.steps;
  }

  const nested = (depth: number, inner: unknown): unknown =>
    depth === 0 ? inner : nested(depth - 1, { a: [inner] });
  const deepFilter = (depth: number): unknown => (depth === 0 ? "never" : { a: deepFilter(depth - 1) });
  const bushy = (depth: number): unknown =>
    depth === 0 ? 1 : Array.from({ length: 6 }, () => ({ a: bushy(depth - 1) }));

  test.each([
    ["a long array of numbers", { data: { a: "never" } }, (n: number) => ({ a: Array(n).fill(1) })],
    [
      "a long array of objects",
      { data: { a: { b: { c: "never" }, d: 1 } } },
      (n: number) => ({ a: Array(n).fill({ b: { c: 1 }, d: 1 }) }),
    ],
    [
      "long texts that almost have a prefix",
      { data: { a: { $startsWith: "a".repeat(500) } } },
      (n: number) => ({ a: Array(n / 100).fill("a".repeat(100)) }),
    ],
    [
      "several conditions on one array",
      { data: { a: { $or: Array(8).fill({ $gt: 5 }) } } },
      (n: number) => ({ a: Array(n).fill(1) }),
    ],
    [
      "doubled negations",
      { data: { a: { $not: { $not: { $not: { $not: "never" } } } } } },
      (n: number) => ({ a: Array(n).fill(1) }),
    ],
  ])("%s: twice the payload, twice the steps", (_what, filter, payload) => {
    const [once, twice] = [stepsOf(filter, payload(25_000)), stepsOf(filter, payload(50_000))];
    expect(twice).toBeLessThanOrEqual(2 * once + 100);
    expect(once).toBeLessThanOrEqual(8 * (8 * 25_000 + 100));
  });

  test("an event that would take too many looks at elements goes out unlooked at", () => {
    const asked = (times: number) => ({ data: { $or: Array(times).fill({ a: "never" }) } });
    const data = { a: Array(maxElements / 10).fill(1) };
    expect(failure(asked(10), { data })).toBe("/data/$or");
    expect(failure(asked(11), { data })).toBeNull();
    expect(failure({ $not: asked(11) }, { data })).toBeNull();
  });

  test("arrays within arrays are not multiplied: each value is looked at once", () => {
    const data = bushy(6);
    const values = JSON.stringify(data).split(/[[{]/).length;
    expect(stepsOf({ data: deepFilter(6) }, data)).toBeLessThanOrEqual(14 * values);
    expect(stepsOf({ data: deepFilter(20) }, nested(20, 1))).toBeLessThanOrEqual(20 * 10);
  });
});
