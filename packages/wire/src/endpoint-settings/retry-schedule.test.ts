import { expect, test } from "vitest";
import { RETRY_PRESETS } from "./presets.ts";
import {
  aboutText,
  durationText,
  longestScheduleMs,
  presetsText,
  scheduleText,
  writtenRetryPolicy,
} from "./retry-schedule.ts";
import type { RetryPolicy } from "./setting.ts";

const growing = (maxAttempts: number): RetryPolicy => ({
  kind: "exponential",
  baseMs: 1_000,
  capMs: 10_000,
  maxAttempts,
});

test.each<[RetryPolicy, schedule: string, longest: string]>([
  [RETRY_PRESETS.courier, "1m, 5m, 15m, 1h, 6h", "7h 21m"],
  [RETRY_PRESETS["five-attempts"], "1m, 5m, 15m, 1h", "1h 21m"],
  [RETRY_PRESETS.short, "30s, 2m, 15m, 1h, 4h", "5h 17m"],
  [RETRY_PRESETS.quick, "1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s", "8m 31s"],
  [RETRY_PRESETS.exponential, "random up to 2m, 4m, 8m, …, 1d", "2d 10h"],
  [growing(6), "random up to 2s, 4s, 8s, 10s, 10s", "34s"],
  [growing(7), "random up to 2s, 4s, 8s, …, 10s", "44s"],
  [growing(1), "none", "0ms"],
  [{ kind: "gaps", gapsMs: [] }, "none", "0ms"],
])("the schedule of %j is %s, in at most about %s", (policy, schedule, longest) => {
  expect(scheduleText(policy)).toBe(schedule);
  expect(aboutText(longestScheduleMs(policy))).toBe(longest);
});

test("all presets are listed with their schedules", () => {
  expect(presetsText("`")).toMatch(
    /^`courier` \(1m, 5m, 15m, 1h, 6h\), `five-attempts` \(1m, 5m, 15m, 1h\), /,
  );
});

test.each([
  [1, "1ms"],
  [1_500, "1500ms"],
  [90_000, "90s"],
  [3_600_000, "1h"],
  [172_800_000, "2d"],
])("%d milliseconds are written as %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test("a policy is written as a preset, as gaps, or as a JSON object", () => {
  expect(writtenRetryPolicy(" courier ")).toBe("courier");
  expect(writtenRetryPolicy("1s,2s")).toBe("1s,2s");
  expect(writtenRetryPolicy(' {"gaps": []} ')).toEqual({ gaps: [] });
  expect(writtenRetryPolicy("{gaps}")).toBe("{gaps}");
});
