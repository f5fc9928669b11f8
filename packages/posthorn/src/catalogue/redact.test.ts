import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_REDACT_PATH_LENGTH, REDACTED, redactPathProblem, redactPayload } from "./redact.ts";

/** In the expected texts, "*" is the mask. */
test.each<[what: string, json: string, paths: string[], shown: string]>([
  ["a member", '{"a":"x","b":1}', ["/a"], '{"a":"*","b":1}'],
  ["a whole object", '{"a":{"b":{"c":1}}}', ["/a/b"], '{"a":{"b":"*"}}'],
  ["every item", '{"a":[{"x":1,"y":2},{"x":3}]}', ["/a/*/x"], '{"a":[{"x":"*","y":2},{"x":"*"}]}'],
  ["every member", '{"a":{"x":1,"y":[2]}}', ["/a/*"], '{"a":{"x":"*","y":"*"}}'],
  ["one item", '[["s","t"]]', ["/0/1"], '[["s","*"]]'],
  ["names with a slash or a tilde", '{"a/b":1,"c~d":2}', ["/a~1b", "/c~0d"], '{"a/b":"*","c~d":"*"}'],
  [
    "a name with a meaning in JavaScript",
    '{"__proto__":{"x":1}}',
    ["/__proto__/x"],
    '{"__proto__":{"x":"*"}}',
  ],
  ["nothing where the path leads nowhere", '{"a":{"b":1}}', ["/a/c", "/x"], '{"a":{"b":1}}'],
  ["a text where an object was expected", '{"card":"4111"}', ["/card/number"], '{"card":"*"}'],
  ["null in the way not at all", '{"card":null}', ["/card/number"], '{"card":null}'],
  ["lists within lists", '{"l":[[{"i":1}],{"i":2}]}', ["/l/*/i"], '{"l":[[{"i":"*"}],{"i":"*"}]}'],
  ["several where one was expected", '{"c":[{"n":1,"m":2}]}', ["/c/n"], '{"c":[{"n":"*","m":2}]}'],
  ["items for other properties of a list", '{"l":[1,{"a":2}]}', ["/l/length"], '{"l":["*",{"a":2}]}'],
  ["an object where a list was expected", '{"l":{"n":"4111"}}', ["/l/0"], '{"l":"*"}'],
  ["an object in place of an item's list", '{"l":[{"n":1},{"n":2}]}', ["/l/1/0"], '{"l":[{"n":1},"*"]}'],
  ["a member named as an item", '{"l":{"0":1,"n":2}}', ["/l/0"], '{"l":{"0":"*","n":2}}'],
  ["nothing of what has other positions only", '[[1],{"3":1},{}]', ["/*/1"], '[[1],{"3":1},{}]'],
  [
    "by several paths at once, in lists within lists",
    '{"l":[{"a":1,"b":2,"c":3},[{"a":4,"d":5}]],"m":{"x":6,"y":{"z":7}}}',
    ["/l/a", "/l/*/b", "/l/1/d", "/*/y/z", "/m/x"],
    '{"l":[{"a":"*","b":"*","c":3},[{"a":"*","d":"*"}]],"m":{"x":"*","y":{"z":"*"}}}',
  ],
])("masks %s", (_what, json, paths, shown) => {
  const masked = shown.replaceAll('"*"', JSON.stringify(REDACTED));
  expect(String(redactPayload(Buffer.from(json), paths))).toBe(masked);
});

test("without paths the bytes are unchanged", () => {
  const bytes = Buffer.from('{"b": 1.0, "a":12345678901234567890}');
  expect(redactPayload(bytes, []).equals(bytes)).toBe(true);
});

test("a path starts with a slash, has a maximum length, and has no item in brackets", () => {
  const longest = `/${"x".repeat(MAX_REDACT_PATH_LENGTH - 1)}`;
  for (const right of [longest, "/[0]"]) expect(redactPathProblem(right)).toBeNull();
  for (const wrong of ["", "card", 5, "/a\0", `${longest}x`])
    expect(redactPathProblem(wrong)).toContain("JSON Pointer");
  for (const wrong of ["/lines[0]", "/lines[0]/price", "/a/lines[*]/price", "/lines[]"])
    expect(redactPathProblem(wrong)).toContain("/lines/0/price");
});

const name = fc.constantFrom("a", "b", "length", "0", "1", "__proto__");
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("secret", 1, null, true),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  ),
}));

/** Returns all values that the path leads to, through lists, and those where it ends early. */
function reached(value: unknown, [part, ...rest]: readonly string[]): unknown[] {
  if (part === undefined) return [value];
  if (value === null || typeof value !== "object") return [value];
  if (Array.isArray(value) && !/^(\*|\d+)$/.test(part)) {
    return value.flatMap((item) => reached(item, [part, ...rest]));
  }
  const names = Object.keys(value);
  const isList = Array.isArray(value) || names.includes(part) || names.every((own) => /^\d+$/.test(own));
  if (/^\d+$/.test(part) && !isList) return [value];
  return Object.entries(value)
    .filter(([own]) => part === "*" || own === part)
    .flatMap(([, inner]) => reached(inner, rest));
}

test("for any data, a path leads only to masked values and null", () => {
  fc.assert(
    fc.property(
      anyValue,
      fc.array(fc.oneof(name, fc.constant("*")), { minLength: 1, maxLength: 4 }),
      (value, parts) => {
        const shown = redactPayload(Buffer.from(JSON.stringify(value)), [`/${parts.join("/")}`]);
        const visible = reached(JSON.parse(String(shown)), parts).filter((found) => found !== null);
        expect(visible.every((found) => found === REDACTED)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
