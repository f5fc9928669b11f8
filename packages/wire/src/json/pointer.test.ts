import { expect, test } from "vitest";
import { escapePointer, unescapePointer } from "./pointer.ts";

test.each([
  ["plain", "plain"],
  ["a/b", "a~1b"],
  ["m~n", "m~0n"],
  ["~1", "~01"],
  ["", ""],
])("the member name %j is written %j in a pointer and read back", (name, token) => {
  expect([escapePointer(name), unescapePointer(token)]).toEqual([token, name]);
});
