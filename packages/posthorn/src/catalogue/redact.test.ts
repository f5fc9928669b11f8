import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_REDACT_PATH_LENGTH, REDACTED, redactPathProblem, redactPayload } from "./redact.ts";

test.each<[what: string, json: string, paths: string[], shown: string]>([
  ["a member", '{"a":"x","b":1}', ["/a"], '{"a":"[redacted]","b":1}'],
  ["a whole object", '{"a":{"b":{"c":1}}}', ["/a/b"], '{"a":{"b":"[redacted]"}}'],
  [
    "every item",
    '{"a":[{"x":1,"y":2},{"x":3}]}',
    ["/a/*/x"],
    '{"a":[{"x":"[redacted]","y":2},{"x":"[redacted]"}]}',
  ],
  ["every member", '{"a":{"x":1,"y":[2]}}', ["/a/*"], '{"a":{"x":"[redacted]","y":"[redacted]"}}'],
  ["one item", '[["s","t"]]', ["/0/1"], '[["s","[redacted]"]]'],
  ["null and numbers too", '{"a":null,"b":0}', ["/a", "/b"], '{"a":"[redacted]","b":"[redacted]"}'],
  [
    "names with a slash or a tilde",
    '{"a/b":1,"c~d":2}',
    ["/a~1b", "/c~0d"],
    '{"a/b":"[redacted]","c~d":"[redacted]"}',
  ],
  [
    "a name that JavaScript treats apart",
    '{"__proto__":{"x":1}}',
    ["/__proto__/x"],
    '{"__proto__":{"x":"[redacted]"}}',
  ],
  ["an inherited name not at all", '{"a":1}', ["/constructor/name", "/toString"], '{"a":1}'],
  ["a length that is a member", '{"a":{"length":1}}', ["/a/length"], '{"a":{"length":"[redacted]"}}'],
  ["both of a repeated name", '{"a":"x","a":"y"}', ["/a"], '{"a":"[redacted]"}'],
  ["an empty name", '{"":1}', ["/"], '{"":"[redacted]"}'],
  ["nothing where the path leads nowhere", '{"a":{"b":1}}', ["/a/c", "/x"], '{"a":{"b":1}}'],
  ["a text where an object was expected", '{"card":"4111"}', ["/card/number"], '{"card":"[redacted]"}'],
  [
    "a text where a list was expected",
    '{"a":"s","b":5}',
    ["/a/0", "/b/*"],
    '{"a":"[redacted]","b":"[redacted]"}',
  ],
  ["data that is a text itself", '"4111"', ["/card/number"], '"[redacted]"'],
  ["null in the way not at all", '{"card":null}', ["/card/number"], '{"card":null}'],
  [
    "lists within lists",
    '{"l":[[{"i":1}],{"i":2}]}',
    ["/l/*/i"],
    '{"l":[[{"i":"[redacted]"}],{"i":"[redacted]"}]}',
  ],
  ["several where one was expected", '{"c":[{"n":1,"m":2}]}', ["/c/n"], '{"c":[{"n":"[redacted]","m":2}]}'],
  [
    "items for what a list has besides them",
    '{"list":[1,{"a":2}]}',
    ["/list/length"],
    '{"list":["[redacted]",{"a":2}]}',
  ],
  ["one item of each list", '[["s","t"]]', ["/*/1"], '[["s","[redacted]"]]'],
  ["an object where a list was expected", '{"l":{"n":"4111"}}', ["/l/0"], '{"l":"[redacted]"}'],
  [
    "an object in place of an item's list",
    '{"l":[{"n":1},{"n":2}]}',
    ["/l/1/0"],
    '{"l":[{"n":1},"[redacted]"]}',
  ],
  ["an object that was to be in a list", '{"l":{"n":1}}', ["/l/0/n"], '{"l":"[redacted]"}'],
  ["a member named as an item", '{"l":{"0":1,"n":2}}', ["/l/0"], '{"l":{"0":"[redacted]","n":2}}'],
  ["nothing of what has other positions only", '[[1],{"3":1},{}]', ["/*/1"], '[[1],{"3":1},{}]'],
  [
    "by several paths at once, in lists within lists",
    '{"l":[{"a":1,"b":2,"c":3},[{"a":4,"d":5}]],"m":{"x":6,"y":{"z":7}}}',
    ["/l/a", "/l/*/b", "/l/1/d", "/*/y/z", "/m/x"],
    '{"l":[{"a":"[redacted]","b":"[redacted]","c":3},[{"a":"[redacted]","d":"[redacted]"}]],"m":{"x":"[redacted]","y":{"z":"[redacted]"}}}',
  ],
  ["within what is masked already", '{"a":{"b":1}}', ["/a", "/a/b"], '{"a":"[redacted]"}'],
])("masks %s", (_what, json, paths, shown) => {
  expect(String(redactPayload(Buffer.from(json), paths))).toBe(shown);
});

test("without paths the bytes are those that were given", () => {
  const bytes = Buffer.from('{"b": 1.0, "a":12345678901234567890}');
  expect(redactPayload(bytes, []).equals(bytes)).toBe(true);
});

test("all paths together are followed in one walk: fifty take about as long as one", () => {
  const payload = Buffer.from(JSON.stringify(Array(30_000).fill([1])));
  const fastest = (count: number): number => {
    const paths = Array.from({ length: count }, (_, n) => `/*/*/k${n}`);
    const times = Array.from({ length: 5 }, () => {
      const before = performance.now();
      redactPayload(payload, paths);
      return performance.now() - before;
    });
    return Math.min(...times);
  };
  // each on its own walk, they took twenty times as long
  expect(fastest(50) / fastest(1)).toBeLessThan(8);
});

test("an item in brackets is no path, for it would lead nowhere", () => {
  for (const wrong of ["/lines[0]", "/lines[0]/price", "/a/lines[*]/price", "/lines[]"]) {
    expect(redactPathProblem(wrong)).toContain("/lines/0/price");
  }
  expect(redactPathProblem("/[0]")).toBeNull();
});

test("a path begins with a slash and has a limit", () => {
  expect(redactPathProblem(`/${"x".repeat(MAX_REDACT_PATH_LENGTH - 1)}`)).toBeNull();
  for (const wrong of ["", "card", 5, "/a\0", `/${"x".repeat(MAX_REDACT_PATH_LENGTH)}`]) {
    expect(redactPathProblem(wrong)).not.toBeNull();
  }
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

/** Everything that the path leads to, lists passed through, and what it ends at too early or cannot follow. */
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

test("whatever the data looks like, a path leads to nothing but what is masked, and to null", () => {
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
