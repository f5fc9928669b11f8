import { expect, test } from "vitest";
import { MAX_LIST_ITEMS, parseSettings } from "./settings-json.ts";

const read = (json: string): unknown => parseSettings(Buffer.from(json));
const refusal = (pointer: string, message: unknown) =>
  expect.objectContaining({ code: "invalid_body", fieldErrors: [{ pointer, message }] });

test("a duplicate name is refused at any depth and in any spelling", () => {
  for (const json of [
    '{"name":"a","name":"b"}',
    '{"name":"a","n\\u0061me":"b"}',
    '{"headers":{"a":"1","a":"2"}}',
    '{"endpoints":[{"url":"a"},{"url":"a","url":"b"}]}',
    '{"filter":{"data":{"a":1,"a":2}}}',
    '{"__proto__":1,"__proto__":2}',
  ]) {
    expect(() => read(json)).toThrow(refusal("", "A field is given twice. Give each field once."));
  }
});

test("colons, quotes and braces in texts are not names", () => {
  const body = { 'a":"b': ['{"x":1}', "\\", '\\":'], b: { c: "d:e" } };
  expect(read(JSON.stringify(body, null, 2))).toEqual(body);
});

test("__proto__ is refused as a name, except in data of the caller", () => {
  const message = '"__proto__" is not allowed as a name. Remove it.';
  expect(() => read('{"headers":{"__proto__":1}}')).toThrow(refusal("/headers/__proto__", message));
  expect(() => read('{"__proto__":{"name":"a"}}')).toThrow(refusal("/__proto__", message));
  const renamed = '{"envelope_fields":{"__proto__":"a"}}';
  expect(() => read(renamed)).toThrow(refusal("/envelope_fields/__proto__", message));
  expect(JSON.stringify(read('{"data":{"__proto__":1}}'))).toBe('{"data":{"__proto__":1}}');
});

test("lists have at most 10,000 items in total, not counting data of the caller", () => {
  const lists = (count: number, name: string) =>
    JSON.stringify({ [name]: Array(count - 1).fill(1), other: [1] });
  read(lists(MAX_LIST_ITEMS, "events"));
  expect(() => read(lists(MAX_LIST_ITEMS + 1, "events"))).toThrow(
    refusal("", "The lists have 10001 items in total. Send at most 10000 at once."),
  );
  read(lists(MAX_LIST_ITEMS + 1, "data"));
});

test("deeply nested data is accepted", () => {
  read(`{"data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
});
