import { expect, test } from "vitest";
import { bucketOf, LATENCY_BUCKETS, percentile } from "./latency-histogram.ts";

function histogram(durations: readonly number[]): number[] {
  const counts = new Array<number>(LATENCY_BUCKETS).fill(0);
  for (const ms of durations) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
  return counts;
}

test.each([
  [0, 0],
  [1, 0],
  [2, 1],
  [100, 10],
  [101, 11],
  [60_000, LATENCY_BUCKETS - 1],
  [3_600_000, LATENCY_BUCKETS - 1],
])("%i ms are counted in range %i", (ms, range) => {
  expect(bucketOf(ms)).toBe(range);
});

test("the error of a percentile is at most its bucket's width", () => {
  const durations = Array.from({ length: 10_000 }, (_, index) => index);
  for (const share of [0.5, 0.95, 0.99]) {
    const found = percentile(histogram(durations), share) as number;
    expect(found / (share * 10_000)).toBeGreaterThan(1 / 1.7);
    expect(found / (share * 10_000)).toBeLessThan(1.7);
  }
});

test("there is no percentile without counts, and the last bucket holds everything longer", () => {
  expect(percentile(histogram([]), 0.5)).toBeNull();
  expect(percentile(histogram([120]), 0.99)).toBeGreaterThan(100);
  expect(percentile(histogram([120]), 0.99)).toBeLessThanOrEqual(150);
  expect(percentile(histogram([999_999]), 0.99)).toBeLessThanOrEqual(60_000);
});
