import { expect, test } from "vitest";
import { parseSearch, stringifySearch } from "./search-text.ts";

test.each([
  "12345678901234567890",
  "1e3",
  "1.10",
  "007",
  "null",
  "true",
  '{"a":1}',
  '"quoted"',
  "[]",
  "a b&c=d#e+f%",
])("the filter %j is the same text in the address and out of it", (text) => {
  const address = stringifySearch({ subject: text, tenant: undefined });
  expect(parseSearch(address)).toEqual({ subject: text });
});

test("what people write into an address by hand is taken as it stands, and nothing leaves no mark", () => {
  expect(parseSearch("?subject=12345678901234567890&tenant=null")).toEqual({
    subject: "12345678901234567890",
    tenant: "null",
  });
  expect(stringifySearch({})).toBe("");
});
