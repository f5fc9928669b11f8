import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

test("the least recently used entries are dropped first", () => {
  const map = new BoundedMap<string, number>(4);
  for (const [at, key] of ["a", "b", "c"].entries()) map.set(key, at);
  expect(map.get("a")).toBe(0);
  map.set("d", 3);
  expect(["a", "b", "c", "d"].map((key) => map.get(key))).toEqual([0, undefined, 2, 3]);
});

test("a value that is set again or deleted does not come back from the old generation", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 1);
  map.set("a", 2);
  expect(map.get("a")).toBe(2);
  map.delete("a");
  expect(map.get("a")).toBeUndefined();
});
