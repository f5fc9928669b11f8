import { expect, test } from "vitest";
import { compactJson, formatJson } from "./format-json.ts";

test.each([{}, [], { a: [1, [], {}, { "b:{": 'x,"]' }], c: null }, [true, "\\", { d: -1.5e-7 }]])(
  "JSON is indented as JSON.stringify does: %j",
  (value) => {
    expect(formatJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  },
);

test("numbers, escapes and repeated keys stay as they were sent", () => {
  expect(formatJson('{"n":12345678901234567890, "n":1.0,"t":"\\u00e9\\/"}')).toBe(
    '{\n  "n": 12345678901234567890,\n  "n": 1.0,\n  "t": "\\u00e9\\/"\n}',
  );
});

test.each(["", "plain text", '"a string"', '{"cut off": [1, 2', "<html>"])(
  "a text that is no JSON object or array is left as it is: %j",
  (text) => {
    expect(formatJson(text)).toBeNull();
  },
);

test("formatted JSON becomes what it was, with the white space in its strings", () => {
  const text = '{"a b":[1.0,"x \\" y",{}],"c":12345678901234567890}';
  expect(compactJson(formatJson(text) ?? "")).toBe(text);
});
