import { afterEach, expect, test } from "vitest";
import { setLanguage } from "../app/texts.ts";
import { duration, exactUtc, relativeTime } from "./time.ts";

afterEach(() => setLanguage("en"));

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1_000, "1.0 s"],
  [9_949, "9.9 s"],
  [10_000, "10s"],
  [252_000, "4m 12s"],
  [3_600_000, "1h"],
  [183_600_000, "2d 3h"],
])("%i ms read as %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test("seconds have the decimal separator of the reader's language", () => {
  setLanguage("de");
  expect(duration(4_000)).toBe("4,0 s");
});

test("relative times count in whole units, in the reader's language", () => {
  const now = Date.parse("2026-11-15T12:00:00Z");
  expect(relativeTime(new Date(now - 59_000), now)).toBe("59 sec. ago");
  setLanguage("de");
  expect(relativeTime(new Date(now + 3_600_000), now)).toBe("in 1 Std.");
});

test("the exact time is in UTC", () => {
  expect(exactUtc(new Date("2026-11-15T12:00:00.123Z"))).toBe("2026-11-15 12:00:00.123 UTC");
});
