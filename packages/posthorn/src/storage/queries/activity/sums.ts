// Ranges of latency added up one by one: unnesting them and grouping by their place took seven times as long.
import { LATENCY_BUCKETS } from "../../../observe/latency-histogram.ts";

/** Aggregates over `posthorn.activity a`, one for each range. */
export const latencySums = Array.from(
  { length: LATENCY_BUCKETS },
  (_, index) => `sum(a.latency[${index + 1}])::integer`,
).join(", ");
