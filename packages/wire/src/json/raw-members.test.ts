import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_DEPTH, type RawMembers, rawMembers, TooDeepError } from "./raw-members.ts";

function texts(json: string, members: RawMembers): string[] {
  return members.map(({ start, end }) => Buffer.from(json).subarray(start, end).toString());
}

function valuesOf(json: string): string[] {
  const document = rawMembers(Buffer.from(json));
  return document.kind === "object" ? texts(json, document.members) : [];
}

test("values keep every byte: numbers, order, repeated inner names, escapes", () => {
  const data = '{"b":1.0, "a":12345678901234567890,"a":2,"z":"\\u0000\\"}","e":1e400}';
  expect(valuesOf(`{"x":1,"data" : ${data} ,"y":null}`)).toEqual(["1", data, "null"]);
});

test.each([
  ["{}", []],
  [' {\n"a"\t:\r"b" } ', ['"b"']],
  ['{"a":"\\\\","b":"\\"","c":"}]"}', ['"\\\\"', '"\\""', '"}]"']],
  ['{"ключ":"значение","😀":["😀"]}', ['"значение"', '["😀"]']],
  ['{"a":[],"b":{},"c":[{}],"d":-0.5e+3,"e":true}', ["[]", "{}", "[{}]", "-0.5e+3", "true"]],
])("%s", (json, expected) => {
  expect(valuesOf(json)).toEqual(expected);
});

test("an array returns the members of each item, none for items that are not objects", () => {
  const json = '[ {"a":1} , 5, "x", [{"b":2}], {"c":[3,4],"d":null} ]';
  const document = rawMembers(Buffer.from(json));
  expect(document.kind === "array" && document.items.map(({ members }) => texts(json, members))).toEqual([
    ["1"],
    [],
    [],
    [],
    ["[3,4]", "null"],
  ]);
});

test("spans agree with JSON.parse for any object and any spacing", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()),
      fc.constantFrom(0, 1, "\t"),
      (object, space) => {
        const json = JSON.stringify(object, null, space);
        expect(valuesOf(json).map((value) => JSON.parse(value))).toEqual(Object.values(JSON.parse(json)));
      },
    ),
  );
});

test("spans agree with JSON.parse for any array of objects", () => {
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), (objects) => {
      const json = JSON.stringify(objects);
      const document = rawMembers(Buffer.from(json));
      const found =
        document.kind === "array" ? document.items.map(({ members }) => texts(json, members)) : [];
      expect(found.map((item) => item.map((value) => JSON.parse(value)))).toEqual(
        JSON.parse(json).map((item: object) => Object.values(item)),
      );
    }),
  );
});

test("scanning terminates for text that is not JSON", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.array(fc.constantFrom(...'{}[]",:\\ 1a')).map((a) => Buffer.from(a.join(""))),
      ),
      (bytes) => {
        const document = rawMembers(bytes);
        for (const { start, end } of document.kind === "object" ? document.members : document.items.flat()) {
          expect(start <= end).toBe(true);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

/** Valid JSON of which some bytes were replaced, removed or inserted. */
const brokenJson = fc
  .tuple(
    fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())),
    fc.constantFrom(0, 1),
    fc.array(
      fc.record({
        at: fc.nat(),
        removed: fc.nat(2),
        inserted: fc.constantFrom(
          "",
          ...'{}[]",:\\ \n\t\u0000\u007fé-+.eE01ux',
          "true",
          "null",
          "\\u00",
          "\ufeff",
        ),
      }),
      { maxLength: 3 },
    ),
  )
  .map(([value, space, edits]) => {
    let json = JSON.stringify(value, null, space);
    for (const { at, removed, inserted } of edits) {
      const start = at % (json.length + 1);
      json = json.slice(0, start) + inserted + json.slice(start + removed);
    }
    // replaces unpaired surrogates, which are not UTF-8
    return Buffer.from(json).toString();
  });

test("a document is valid if and only if JSON.parse accepts it", () => {
  fc.assert(
    fc.property(brokenJson, (json) => {
      const isDocument = /^[ \t\r\n]*[{[]/.test(json);
      expect(rawMembers(Buffer.from(json)).isValid).toBe(isDocument && isJson(json));
    }),
    { numRuns: 5_000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  "[1,]",
  "[,1]",
  "[1 2]",
  "[1]]",
  "[1",
  "[01]",
  "[-]",
  "[1.]",
  "[.5]",
  "[1e]",
  "[+1]",
  "[tru]",
  "[nulll]",
  '["\t"]',
  '["\\x"]',
  '["\\u12g4"]',
  '["a]',
  '{"a":1,}',
  '{"a"}',
  '{"a" 1}',
  "{a:1}",
  '{"a":1 "b":2}',
  '{"a":1}x',
  "\ufeff{}",
])("%s is not valid", (json) => {
  expect(rawMembers(Buffer.from(json)).isValid).toBe(false);
});

test("a value may be nested 64 deep and no deeper", () => {
  const nested = (depth: number): string => `{"data":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  expect(valuesOf(nested(MAX_DEPTH))).toHaveLength(1);
  expect(() => valuesOf(nested(MAX_DEPTH + 1))).toThrow(TooDeepError);
  expect(() => rawMembers(Buffer.from(`[${nested(MAX_DEPTH + 1)}]`))).toThrow(TooDeepError);
});
