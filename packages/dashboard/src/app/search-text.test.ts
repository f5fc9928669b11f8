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
])("the filter %j is the same text in the URL and when read back", (text) => {
  const address = stringifySearch({ subject: text, tenant: undefined });
  expect(parseSearch(address)).toEqual({ subject: text });
});
