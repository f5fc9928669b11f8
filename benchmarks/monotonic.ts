// Milliseconds of the machine's monotonic clock: the same in every process, so that an instant in one can be taken from
// an instant in another. performance.now() alone counts from the start of its process.
import { performance } from "node:perf_hooks";

const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export function monotonicMs(): number {
  return originMs + performance.now();
}
