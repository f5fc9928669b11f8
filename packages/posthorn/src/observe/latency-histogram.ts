// A histogram of attempt durations that can be summed.

/** Upper bounds in milliseconds, each about 1.6 times the previous. The last bucket is unbounded. */
const bounds = [
  1, 2, 3, 5, 7, 10, 15, 25, 40, 65, 100, 150, 250, 400, 650, 1_000, 1_500, 2_500, 4_000, 6_500, 10_000,
  15_000, 25_000, 60_000,
] as const;

export const LATENCY_BUCKETS = bounds.length;

export function bucketOf(durationMs: number): number {
  let bucket = 0;
  while (bucket < LATENCY_BUCKETS - 1 && durationMs > (bounds[bucket] as number)) bucket += 1;
  return bucket;
}

/** Returns the percentile, interpolated within its bucket; null without counts. */
export function percentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const from = index === 0 ? 0 : (bounds[index - 1] as number);
      const to = bounds[index] as number;
      return Math.round(from + (to - from) * (left / count));
    }
    left -= count;
  }
  return bounds[LATENCY_BUCKETS - 1] as number;
}
