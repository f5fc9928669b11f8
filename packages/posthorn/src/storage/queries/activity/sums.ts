// Latency buckets are summed one by one: unnesting them and grouping by position took seven times as long.
import { LATENCY_BUCKETS } from "../../../observe/latency-histogram.ts";

/** Sums of `posthorn.activity a`, one per latency bucket. */
export const latencySums = Array.from(
  { length: LATENCY_BUCKETS },
  (_, index) => `sum(a.latency[${index + 1}])::integer`,
).join(", ");
