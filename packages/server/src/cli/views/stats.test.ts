import type { Stats } from "@posthorn/client";
import { expect, test } from "vitest";
import { statsText } from "./stats.ts";

const none = { count: 0, is_exact: true };
const quiet: Stats = {
  now: { pending: none, in_flight: none, failed: none, dead: none },
  ended: {
    since: "2026-11-15T09:30:00.000Z",
    success: none,
    dead: none,
    success_rate: null,
    latency_ms: null,
  },
};

function shown(stats: Stats, hasColors = false): string {
  return statsText({ hasColors }, stats, { period: "hour" });
}

test("an inexact count is shown as a lower bound", () => {
  const now = {
    ...quiet.now,
    dead: { count: 10_000, is_exact: false },
    pending: { count: 7, is_exact: true },
  };
  const text = shown({ ...quiet, now });
  expect(text).toMatch(/^dead letters +at least 10000$/m);
  expect(text).toMatch(/^pending +7$/m);
});

test.each([
  [1, "100.0 %"],
  [0.9996, "99.9 %"],
  [0.5, "50.0 %"],
  [0, "0.0 %"],
  [null, "–"],
])("a success rate of %s is shown as %s, rounded down", (rate, text) => {
  const ended = { ...quiet.ended, success_rate: rate };
  expect(/^success rate +(.+)$/m.exec(shown({ ...quiet, ended }))?.[1]).toBe(text);
});

test("gives no advice without failures", () => {
  expect(shown(quiet)).not.toContain("→");
});

test("headings are bold only on a terminal with colours", () => {
  expect(shown(quiet, true)).toContain("\u001b[1mNow");
  expect(shown(quiet)).not.toContain("\u001b");
});
