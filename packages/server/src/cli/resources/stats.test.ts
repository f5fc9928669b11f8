import type { Stats } from "@posthorn/client";
import { expect, test } from "vitest";
import { statsText } from "./stats.ts";

const none = { count: 0, is_exact: true };
const quiet: Stats = {
  now: { pending: none, in_flight: none, failed: none, dead: none },
  attempts: { since: "2026-11-15T09:30:00.000Z", success: 0, failed: 0, dead: 0, success_rate: null },
  latency_ms: null,
};

function shown(change: { now?: Partial<Stats["now"]>; attempts?: Partial<Stats["attempts"]> }): string {
  const attempts = { ...quiet.attempts, ...change.attempts };
  const stats = { ...quiet, now: { ...quiet.now, ...change.now }, attempts };
  return statsText({ hasColors: false }, stats, { period: "hour" });
}

test("an inexact count is shown as a lower bound", () => {
  const text = shown({ now: { dead: { count: 10_000, is_exact: false } } });
  expect(text).toMatch(/^dead letters +at least 10000$/m);
});

test.each([
  [1, "100.0 %"],
  [0.9996, "99.9 %"],
  [null, "–"],
])("a success rate of %s is shown as %s, rounded down", (success_rate, text) => {
  expect(/^success rate +(.+)$/m.exec(shown({ attempts: { success_rate } }))?.[1]).toBe(text);
});
