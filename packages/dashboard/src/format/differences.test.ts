import { expect, test } from "vitest";
import { differences } from "./differences.ts";

test.each([
  [{ a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  [
    { a: 1, b: [1, 2], c: "x" },
    { a: 2, b: [1], "d/e": true },
    [
      { pointer: "/a", kind: "changed", before: 1, after: 2 },
      { pointer: "/b/1", kind: "removed", before: 2 },
      { pointer: "/d~1e", kind: "added", after: true },
      { pointer: "/c", kind: "removed", before: "x" },
    ],
  ],
  [{ a: {} }, { a: [] }, [{ pointer: "/a", kind: "changed", before: {}, after: [] }]],
])("differences are named by their JSON pointers: %j and %j", (before, after, found) => {
  expect(differences(before, after, 10)).toEqual(found);
});

test("the number of differences is limited", () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, index]));
  expect(differences({}, many, 3)).toHaveLength(3);
});
