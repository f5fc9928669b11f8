import { expect, test } from "vitest";
import { differences } from "./differences.ts";

test("equal values have no differences", () => {
  expect(differences({ a: [1, { b: null }] }, { a: [1, { b: null }] }, 10)).toEqual([]);
});

test("what was added, removed and changed is named by its pointer", () => {
  expect(differences({ a: 1, b: [1, 2], c: "x" }, { a: 2, b: [1], "d/e": true }, 10)).toEqual([
    { pointer: "/a", kind: "changed", before: 1, after: 2 },
    { pointer: "/b/1", kind: "removed", before: 2 },
    { pointer: "/d~1e", kind: "added", after: true },
    { pointer: "/c", kind: "removed", before: "x" },
  ]);
});

test("an array in place of an object is one change, not many", () => {
  expect(differences({ a: {} }, { a: [] }, 10)).toEqual([
    { pointer: "/a", kind: "changed", before: {}, after: [] },
  ]);
});

test("no more than asked for are looked for", () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, index]));
  expect(differences({}, many, 3)).toHaveLength(3);
});
