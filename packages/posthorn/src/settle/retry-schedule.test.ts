import { endpointSettings, maxAttempts, RETRY_PRESETS, type RetryPresetName } from "@posthorn/wire";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { RetryPolicy } from "../model.ts";
import { normaliseRetryPolicy } from "./retry-policy-input.ts";
import {
  InvalidRetryPolicyError,
  MAX_RETRY_AFTER_MS,
  nextDelayMs,
  parseRetryPolicy,
} from "./retry-schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** All delays of a policy if the random number is always `chance`. */
function delays(policy: RetryPolicy, chance = 0.5): number[] {
  const list: number[] = [];
  for (let failures = 1; ; failures += 1) {
    const delayMs = nextDelayMs(policy, failures, { random: () => chance, ageMs: 0 });
    if (delayMs === null) return list;
    list.push(delayMs);
  }
}

const gaps: fc.Arbitrary<RetryPolicy> = fc
  .array(fc.integer({ min: 1, max: 30 * 24 * HOUR }), { minLength: 1, maxLength: 30 })
  .map((gapsMs) => ({ kind: "gaps", gapsMs }));
const exponential: fc.Arbitrary<RetryPolicy> = fc.record({
  kind: fc.constant("exponential" as const),
  baseMs: fc.integer({ min: 1, max: HOUR }),
  capMs: fc.integer({ min: 1, max: 48 * HOUR }),
  maxAttempts: fc.integer({ min: 1, max: 2_000 }),
});
const anyPolicy = fc.oneof(gaps, exponential);
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test.each<[RetryPresetName, chance: number, minutes: number[]]>([
  ["courier", 0.5, [1, 5, 15, 60, 360]],
  ["five-attempts", 0.5, [1, 5, 15, 60]],
  ["short", 0.5, [0.5, 2, 15, 60, 240]],
  ["quick", 0.5, [1, 2, 4, 8, 16, 32, 64, 128, 256].map((seconds) => seconds / 60)],
  ["exponential", 1, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440]],
  ["exponential", 0, Array(11).fill(0)],
])("the preset %s with the random number %d has its delays", (name, random, minutes) => {
  const delaysMs = minutes.map((each) => each * MINUTE);
  expect(delays(RETRY_PRESETS[name], random)).toEqual(delaysMs);
  expect(maxAttempts(RETRY_PRESETS[name])).toBe(delaysMs.length + 1);
  expect(parseRetryPolicy(` ${name} `)).toBe(RETRY_PRESETS[name]);
});

test("exponential retries for more than two days at most, and for more than one on average", () => {
  const hoursWith = (random: number) =>
    delays(RETRY_PRESETS.exponential, random).reduce((sum, delayMs) => sum + delayMs, 0) / HOUR;
  expect(hoursWith(1)).toBeCloseTo(58.1);
  expect(hoursWith(0.5)).toBeCloseTo(29.05);
});

test("courier is the default", () => {
  expect(endpointSettings.retryPolicy.default).toBe(RETRY_PRESETS.courier);
});

describe("nextDelayMs", () => {
  it("stays within a tenth of a listed gap", () => {
    fc.assert(
      fc.property(gaps, chance, (policy, random) => {
        const listed = policy.kind === "gaps" ? policy.gapsMs : [];
        delays(policy, random).forEach((delayMs, nth) => {
          const gapMs = listed[nth] ?? Number.NaN;
          expect(delayMs).toBeGreaterThanOrEqual(Math.floor(gapMs * 0.9));
          expect(delayMs).toBeLessThanOrEqual(Math.ceil(gapMs * 1.1));
        });
      }),
    );
  });

  it("is the longer of the scheduled and the requested delay, of which the latter counts up to a day", () => {
    fc.assert(
      fc.property(anyPolicy, chance, fc.double({ min: 0, noNaN: true }), (policy, random, retryAfterMs) => {
        const input = { random: () => random, ageMs: 0 };
        const scheduledMs = nextDelayMs(policy, 1, input);
        const delayMs = nextDelayMs(policy, 1, { ...input, retryAfterMs });
        const askedMs = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
        expect(delayMs).toBe(scheduledMs === null ? null : Math.max(scheduledMs, askedMs));
      }),
    );
  });

  it("is exhausted if the next attempt would exceed the maximum age", () => {
    const policy: RetryPolicy = { kind: "gaps", gapsMs: [1_000, 1_000, 1_000], maxAgeMs: 10_000 };
    const at = (ageMs: number) => nextDelayMs(policy, 1, { random: () => 0.5, ageMs });
    expect(at(9_000)).toBe(1_000);
    expect(at(9_001)).toBeNull();
  });
});

describe("parseRetryPolicy", () => {
  it.each<[string, number[]]>([
    ["200ms,1s,5s", [200, 1_000, 5_000]],
    ["1m 5m  15m 1h 6h", [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR]],
    ["1s, 2s ,3s", [1_000, 2_000, 3_000]],
    ["1.5h", [1.5 * HOUR]],
    ["2d", [48 * HOUR]],
  ])("reads %j", (text, gapsMs) => {
    expect(parseRetryPolicy(text)).toEqual({ kind: "gaps", gapsMs });
  });

  it.each<[string, string]>([
    ["", "is empty"],
    ["  ", "is empty"],
    ["couriers", "Use one of courier, five-attempts, short, exponential, quick"],
    ["toString", "neither a preset nor a gap"],
    ["5", "needs a unit"],
    ["1s,,2s", "neither"],
    ["1s,", "neither"],
    ["-1s", "neither"],
    ["1e3s", "neither"],
    ["1 s", "needs a unit"],
    ["1s courier", '"courier" is neither'],
    ["0s", "from 1ms to 30d"],
    ["31d", "from 1ms to 30d"],
  ])("rejects %j: %s", (text, message) => {
    expect(() => parseRetryPolicy(text)).toThrow(InvalidRetryPolicyError);
    expect(() => parseRetryPolicy(text)).toThrow(message);
  });

  it("refuses more than a hundred gaps", () => {
    expect(() => parseRetryPolicy(new Array(101).fill("1s").join(","))).toThrow("At most 100");
  });
});

describe("normaliseRetryPolicy", () => {
  const exponential = { base: "1ms", cap: "30d", maxAttempts: 101 };
  it.each<[policy: object, stored: object]>([
    [
      { gaps: ["1ms", "30d"], maxAge: "30d" },
      { kind: "gaps", gapsMs: [1, 30 * 24 * HOUR], maxAgeMs: 30 * 24 * HOUR },
    ],
    [{ gaps: new Array(100).fill("1s") }, { kind: "gaps", gapsMs: new Array(100).fill(1_000) }],
    [{ gaps: [] }, { kind: "gaps", gapsMs: [] }],
    [{ exponential }, { kind: "exponential", baseMs: 1, capMs: 30 * 24 * HOUR, maxAttempts: 101 }],
    [
      { preset: "courier", maxAttempts: 1 },
      { kind: "gaps", gapsMs: [] },
    ],
  ])("reads %j, and what it returns", (policy, stored) => {
    expect(normaliseRetryPolicy(policy)).toEqual(stored);
    expect(normaliseRetryPolicy(stored)).toEqual(stored);
  });

  it.each<[policy: object, message: string]>([
    [{ gaps: ["31d"] }, "gaps 31d is out of bounds"],
    [{ gaps: ["0ms"] }, "gaps 0ms is out of bounds"],
    [{ gaps: new Array(101).fill("1s") }, "has 101 gaps. At most 100"],
    [{ preset: "courier", maxAge: "31d" }, "maxAge 31d is out of bounds"],
    [{ preset: "courier", maxAttempts: 102 }, "maxAttempts is a whole number from 1 to 101"],
    [{ exponential: { ...exponential, cap: "31d" } }, "cap 31d is out of bounds"],
    [{ exponential: { ...exponential, base: "0s" } }, "base 0s is out of bounds"],
    [{ exponential: { ...exponential, maxAttempts: 102 } }, "maxAttempts is a whole number from 1 to 101"],
    [{ exponential: { ...exponential, maxAttempts: 0 } }, "maxAttempts is a whole number from 1 to 101"],
    [{ kind: "gaps", gapsMs: [30 * 24 * HOUR + 1] }, "gaps 2592000001ms is out of bounds"],
  ])("rejects %j", (policy, message) => {
    expect(() => normaliseRetryPolicy(policy)).toThrow(InvalidRetryPolicyError);
    expect(() => normaliseRetryPolicy(policy)).toThrow(message);
  });
});
