import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "./retry-after.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

describe("parseRetryAfter", () => {
  it.each<[string, number]>([
    ["0", 0],
    ["120", 120_000],
    [" 7 ", 7_000],
    ["999999999999", 999_999_999_999_000],
    ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
    ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
  ])("reads %j as %d ms", (value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected);
  });

  it.each([
    ..."-5 1e9 Infinity NaN 0x10 1.5 +3 soon 5s 1000000000000".split(" "),
    "",
    " ",
    "5, 10",
    "5 apples",
    "2026-01-01T00:01:00Z",
    "Thu, 99 Foo 2026 00:01:00 GMT",
    "Thu, 01 Jan 2026 00:01:00 CET",
    "9".repeat(400),
  ])("ignores %j", (value) => {
    expect(parseRetryAfter(value, NOW)).toBeUndefined();
  });

  it("ignores a missing header", () => {
    expect(parseRetryAfter(null, NOW)).toBeUndefined();
  });
});
