import { expect, test } from "vitest";
import { retryProgress } from "./retry-progress.ts";

const MINUTE = 60_000;
const gaps = { kind: "gaps" as const, gaps_ms: [MINUTE, 5 * MINUTE, 15 * MINUTE] };

function failed(...triggers: ("event" | "retry" | "manual" | "replay")[]) {
  return { state: "failed", attempts: triggers.map((trigger) => ({ trigger, error: null })) } as const;
}

test("after the first of four attempts, two follow the next one", () => {
  expect(retryProgress(gaps, failed("event"))).toEqual({
    used: 1,
    planned: 4,
    laterDelaysMs: [5 * MINUTE, 15 * MINUTE],
    isRandom: false,
  });
});

test.each(["manual", "replay"] as const)("a %s attempt begins the policy anew", (trigger) => {
  const all = failed("event", "retry", "retry", "retry", trigger, "retry");
  expect(retryProgress(gaps, all)).toMatchObject({ used: 2, planned: 4, laterDelaysMs: [15 * MINUTE] });
  // queued, and not yet attempted
  const { attempts } = failed("event", "retry", "retry", "retry");
  expect(retryProgress(gaps, { state: "pending", attempts })).toMatchObject({ used: 0, planned: 4 });
});

test("an attempt with an unknown outcome uses none of the policy", () => {
  const { state, attempts } = failed("retry");
  const all = [{ trigger: "event", error: "unknown" } as const, ...attempts];
  expect(retryProgress(gaps, { state, attempts: all })).toMatchObject({ used: 1 });
});

test("exponential delays are those of the server: random, up to twice the base after the first failure", () => {
  const policy = { kind: "exponential", base_ms: MINUTE, cap_ms: 10 * MINUTE, max_attempts: 5 } as const;
  expect(retryProgress(policy, failed())).toMatchObject({
    used: 0,
    planned: 5,
    laterDelaysMs: [2 * MINUTE, 4 * MINUTE, 8 * MINUTE, 10 * MINUTE],
    isRandom: true,
  });
  expect(retryProgress(policy, failed("event"))).toMatchObject({
    laterDelaysMs: [4 * MINUTE, 8 * MINUTE, 10 * MINUTE],
  });
});

test("after a policy became shorter, no attempt follows", () => {
  expect(retryProgress({ kind: "gaps", gaps_ms: [] }, failed("event", "retry"))).toMatchObject({
    used: 2,
    planned: 1,
    laterDelaysMs: [],
  });
});
