import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../../tests/support/cpu-time.ts";
import { linearPattern, MAX_PATTERN_LENGTH, MAX_PATTERN_STATES } from "./linear-pattern.ts";

const patterns = [
  "",
  "a",
  "^a$",
  "^(a|b)*c$",
  "^[a-z0-9_]+(\\.[a-z0-9_]+)*$",
  "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^a{2,}$",
  "^a{0,2}b$",
  "(?:ab)+?c",
  "(?<year>\\d{4})",
  "\\bword\\b",
  "x\\B",
  "^[\\]\\\\]$",
  "^\\u{1F600}+$",
  "^\\p{Lu}",
  "^.$",
  "^(?:|a)(?:b?)$",
  "^(a?){3}$",
  "\\u0041\\x42\\n",
  "[\\d-]\\/",
];
const texts = [
  ...["", "a", "aa", "aaa", "ab", "abab", "ababc", "c", "b", "order.paid", "a..b", "x@y.example", "x@y"],
  ...["2026-11-15", "word", "sword", "a word.", "x1", "x", "]", "\\", "😀😀", "Ä", "ä", "\n", "AB\n", "7/"],
];

describe("a pattern", () => {
  test.each(patterns)("%s matches the same texts as JavaScript's RegExp", (source) => {
    const own = new RegExp(source, "u");
    const linear = linearPattern(source);
    for (const text of texts) {
      expect([text, linear.test(text)]).toEqual([text, own.test(text)]);
    }
  });

  test.each(["^(a+)+$", "^(a|a)*$", "(.*)*x", "^(a|aa)+$"])(
    "%s ends quickly on a text that would take JavaScript's RegExp years",
    async (source) => {
      const linear = linearPattern(source);
      const match = () => expect(linear.test(`${"a".repeat(20_000)}!`)).toBe(false);
      expect(await cpuMsOf(match)).toBeLessThan(2_000);
    },
  );

  test.each([
    ["(?=a)", "looking ahead"],
    ["(?<!a)b", "looking ahead and behind"],
    ["(a)\\1", "references back"],
    ["(?<n>a)\\k<n>", "references back"],
    ["(", "not a regular expression"],
    ["a".repeat(MAX_PATTERN_LENGTH + 1), `at most ${MAX_PATTERN_LENGTH}`],
    [`a{${MAX_PATTERN_STATES + 1}}`, `more than ${MAX_PATTERN_STATES} steps`],
    [`(a{100}){6}`, `more than ${MAX_PATTERN_STATES} steps`],
  ])("%s is rejected", (source, reason) => {
    expect(() => linearPattern(source)).toThrow(reason);
  });

  test("may be as long and as large as the limits", () => {
    expect(linearPattern("a".repeat(MAX_PATTERN_LENGTH)).test("a".repeat(MAX_PATTERN_LENGTH))).toBe(true);
    expect(linearPattern(`^a{${MAX_PATTERN_STATES - 2}}$`).test("a".repeat(MAX_PATTERN_STATES - 2))).toBe(
      true,
    );
  });
});
