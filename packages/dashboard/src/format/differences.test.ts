import { expect, test } from "vitest";
import { differences } from "./differences.ts";

test("equal values have no differences", () => {
  expect(differences({ a: [1, { b: null }] }, { a: [1, { b: null }] }, 10)).toEqual([]);
});

test("added, removed and changed values are named by their JSON pointers", () => {
  expect(differences({ a: 1, b: [1, 2], c: "x" }, { a: 2, b: [1], "d/e": true }, 10)).toEqual([
    { pointer: "/a", kind: "changed", before: 1, after: 2 },
    { pointer: "/b/1", kind: "removed", before: 2 },
    { pointer: "/d~1e", kind: "added", after: true },
    { pointer: "/c", kind: "removed", before: "x" },
  ]);
});

test("replacing an object by an array is one change", () => {
  expect(differences({ a: {} }, { a: [] }, 10)).toEqual([
    { pointer: "/a", kind: "changed", before: {}, after: [] },
  ]);
});

test("the number of differences is limited", () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, index]));
  expect(differences({}, many, 3)).toHaveLength(3);
});
