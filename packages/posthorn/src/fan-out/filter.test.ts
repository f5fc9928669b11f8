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
  // null is a value; a missing field is not null
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
  // beyond 2^53 a payload's numbers are rounded, but comparisons are still right
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
  // conditions side by side must hold for the same element
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

test("bytes that are not JSON match only filters for missing data", () => {
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

test("an event that would need too many steps is delivered without evaluating the filter", () => {
  const asked = (times: number) => ({ data: { $or: Array(times).fill({ a: "never" }) } });
  const data = { a: Array(maxElements / 10).fill(1) };
  expect(failure(asked(10), { data })).toBe("/data/$or");
  expect(failure(asked(11), { data })).toBeNull();
  expect(failure({ $not: asked(11) }, { data })).toBeNull();
});
