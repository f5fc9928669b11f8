import { expect, test } from "vitest";
import { MAX_REDACT_PATH_LENGTH, redactPathProblem, redactPayload } from "./redact.ts";

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
  ["no length of an array", '{"a":[1,2]}', ["/a/length"], '{"a":[1,2]}'],
  ["both of a repeated name", '{"a":"x","a":"y"}', ["/a"], '{"a":"[redacted]"}'],
  ["an empty name", '{"":1}', ["/"], '{"":"[redacted]"}'],
  ["nothing where the path leads nowhere", '{"a":1}', ["/a/b/c", "/x"], '{"a":1}'],
  ["within what is masked already", '{"a":{"b":1}}', ["/a", "/a/b"], '{"a":"[redacted]"}'],
])("masks %s", (_what, json, paths, shown) => {
  expect(String(redactPayload(Buffer.from(json), paths))).toBe(shown);
});

test("without paths the bytes are those that were given", () => {
  const bytes = Buffer.from('{"b": 1.0, "a":12345678901234567890}');
  expect(redactPayload(bytes, []).equals(bytes)).toBe(true);
});

test("a path begins with a slash and has a limit", () => {
  expect(redactPathProblem(`/${"x".repeat(MAX_REDACT_PATH_LENGTH - 1)}`)).toBeNull();
  for (const wrong of ["", "card", 5, "/a\0", `/${"x".repeat(MAX_REDACT_PATH_LENGTH)}`]) {
    expect(redactPathProblem(wrong)).not.toBeNull();
  }
});
