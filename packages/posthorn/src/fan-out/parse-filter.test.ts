import { describe, expect, test } from "vitest";
import {
  maxFilterBytes,
  maxFilterConditions,
  maxFilterDepth,
  maxFilterList,
  parseFilter,
} from "./parse-filter.ts";

function pointers(filter: unknown): string[] {
  const parsed = parseFilter(filter);
  return parsed.ok ? [] : parsed.problems.map(({ pointer }) => pointer);
}

function messages(filter: unknown): string {
  const parsed = parseFilter(filter);
  return parsed.ok ? "" : parsed.problems.map(({ message }) => message).join(" ");
}

test.each<[what: string, filter: unknown, pointer: string]>([
  ["no object", "data.a = 1", ""],
  ["a list", [{ data: 1 }], ""],
  ["nothing", {}, ""],
  ["nothing about data", { data: {} }, "/data"],
  ["another part of the event", { type: "order.paid" }, "/type"],
  ["a field without data", { amount: 5 }, "/amount"],
  ["__proto__ beside data", JSON.parse('{"__proto__": 1}'), "/__proto__"],
  ["a comparison of the whole event", { $eq: 1 }, "/$eq"],
  ["a scalar for a filter in $or", { $or: [1] }, "/$or/0"],
  ["an unknown operator", { data: { a: { $regex: "^a" } } }, "/data/a/$regex"],
  ["a list as a value", { data: { a: [1, 2] } }, "/data/a"],
  ["an object to be equal to", { data: { a: { $eq: { b: 1 } } } }, "/data/a/$eq"],
  ["an empty $in", { data: { a: { $in: [] } } }, "/data/a/$in"],
  ["an $in that is no list", { data: { a: { $in: "x" } } }, "/data/a/$in"],
  ["an object in $in", { data: { a: { $in: [1, {}] } } }, "/data/a/$in/1"],
  ["an empty $and", { $and: [] }, "/$and"],
  ["a range of true", { data: { a: { $gt: true } } }, "/data/a/$gt"],
  ["a range of null", { data: { a: { $lte: null } } }, "/data/a/$lte"],
  ["an empty prefix", { data: { a: { $startsWith: "" } } }, "/data/a/$startsWith"],
  ["a prefix that is a number", { data: { a: { $startsWith: 1 } } }, "/data/a/$startsWith"],
  ["an $exists that is a number", { data: { a: { $exists: 1 } } }, "/data/a/$exists"],
  ["undefined", { data: undefined }, "/data"],
  ["a date", { data: { a: new Date() } }, "/data/a"],
  ["a number that is none", { data: { a: Number.NaN } }, "/data/a"],
  ["NUL in a value", { data: { a: "x\0" } }, "/data/a"],
  ["half a surrogate pair", { data: { a: { $in: ["\ud800"] } } }, "/data/a/$in/0"],
  ["NUL in a name", { data: { "a\0": 1 } }, "/data/a\0"],
  ["a name to be escaped", { data: { "a/b~": { $eq: [] } } }, "/data/a~1b~0/$eq"],
])("%s is rejected with a pointer to it", (_what, filter, pointer) => {
  expect(pointers(filter)).toEqual([pointer]);
});

test("all problems are reported at once, up to a maximum", () => {
  const wrong = { data: { a: { $gt: null }, b: [1] }, subjet: "x" };
  expect(pointers(wrong)).toEqual(["/data/a/$gt", "/data/b", "/subjet"]);
  expect(messages(wrong)).toContain("Did you mean subject?");
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`f${n}`, []]));
  expect(pointers({ data: many })).toHaveLength(20);
});

test("a misspelt operator is reported with a suggestion and with how to escape a field name", () => {
  expect(messages({ data: { a: { $startswith: "x" } } })).toContain("Did you mean $startsWith?");
  expect(messages({ data: { $ref: "x" } })).toContain('"$$ref"');
});

describe("limits", () => {
  const conditions = (count: number) => ({
    data: Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, n])),
  });
  /** A filter whose JSON has this depth. */
  const deep = (levels: number): unknown => {
    let filter: unknown = 1;
    for (let level = 1; level < levels; level += 1) filter = { a: filter };
    return { data: filter };
  };
  const long = (bytes: number) => {
    const empty = JSON.stringify({ data: { a: "" } }).length;
    return { data: { a: "x".repeat(bytes - empty) } };
  };
  const values = (count: number) => Array.from({ length: count }, (_, n) => n);

  test.each<[what: string, at: unknown, past: unknown]>([
    ["conditions", conditions(maxFilterConditions), conditions(maxFilterConditions + 1)],
    ["levels", deep(maxFilterDepth), deep(maxFilterDepth + 1)],
    ["bytes", long(maxFilterBytes), long(maxFilterBytes + 1)],
    ["values", { data: { $in: values(maxFilterList) } }, { data: { $in: values(maxFilterList + 1) } }],
    [
      "numbers",
      { data: { a: Number.MAX_SAFE_INTEGER, b: -Number.MAX_SAFE_INTEGER } },
      { data: { a: Number.MAX_SAFE_INTEGER + 1 } },
    ],
    [
      "numbers below zero",
      { data: { a: { $gt: -Number.MAX_SAFE_INTEGER } } },
      { data: { a: { $gt: -Number.MAX_SAFE_INTEGER - 1 } } },
    ],
  ])("of %s", (_what, at, past) => {
    expect(pointers(at)).toEqual([]);
    expect(pointers(past)).toHaveLength(1);
  });

  test("the lists of $in and $and count as levels", () => {
    const under = (levels: number, inner: object): unknown => {
      let filter: unknown = inner;
      for (let level = 2; level < levels; level += 1) filter = { a: filter };
      return { data: filter };
    };
    expect(pointers(under(maxFilterDepth - 1, { $in: [1] }))).toEqual([]);
    expect(pointers(under(maxFilterDepth, { $in: [1] }))).toHaveLength(1);
    expect(pointers(under(maxFilterDepth - 1, { $and: [1] }))).toEqual([]);
    expect(pointers(under(maxFilterDepth, { $and: [1] }))).toHaveLength(1);
  });

  test("an endlessly nested filter is rejected", () => {
    const endless: Record<string, unknown> = {};
    endless.data = endless;
    endless.$not = endless;
    expect(pointers(endless).length).toBeGreaterThan(0);
    const brackets = JSON.parse(`{"data":${"[".repeat(50_000)}${"]".repeat(50_000)}}`);
    expect(pointers(brackets)).toEqual(["/data"]);
    const braces = JSON.parse(`{"data":${'{"$not":'.repeat(30_000)}1${"}".repeat(30_000)}}`);
    expect(pointers(braces)).toHaveLength(1);
    let doubling: object = { a: 1 };
    for (let level = 3; level <= maxFilterDepth; level += 1) doubling = { a: doubling, b: doubling };
    expect(pointers({ data: doubling })).toEqual([""]);
  });
});
