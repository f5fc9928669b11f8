import { WAIT_REASONS } from "@posthorn/wire";
import { expect, test } from "vitest";
import { waitText } from "./wait.ts";

const now = new Date("2026-11-19T12:00:00Z");

test.each([
  ["retry_delay", "retry in 4 s", "retry due now"],
  ["circuit", "held: circuit open, next probe in 4 s", "held: circuit open, next probe now"],
  [
    "rate_limit",
    "held: the receiver asked for a pause that ends in 4 s",
    "held: the receiver asked for a pause that ends now",
  ],
] as const)("%s shows the time that is left, and no time in the past", (reason, ahead, passed) => {
  const textAfter = (seconds: number) => {
    const until = new Date(now.getTime() + seconds * 1_000).toISOString();
    return waitText({ waits_for: { reason, until, blocked_by: null, remedy: "" } }, now);
  };
  expect(textAfter(4)).toBe(ahead);
  expect(textAfter(-4)).toBe(passed);
});

test("every reason has a text of its own, with and without a time", () => {
  for (const until of [null, new Date(now.getTime() + 4_000).toISOString()]) {
    const texts = WAIT_REASONS.filter((reason) => until !== null || reason !== "retry_delay").map((reason) =>
      waitText({ waits_for: { reason, until, blocked_by: null, remedy: "" } }, now),
    );
    for (const text of texts) expect(text).toMatch(/^(held: |retry )/);
    expect(new Set(texts).size).toBe(texts.length);
  }
});
