// The machine's monotonic clock in milliseconds, comparable between processes. performance.now() counts from the start of
// its process.
import { performance } from "node:perf_hooks";

const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export function monotonicMs(): number {
  return originMs + performance.now();
}
