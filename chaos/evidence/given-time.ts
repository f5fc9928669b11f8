// Converts wall time into the time that the machine gave to the processes under test. While they get a fifth of the
// processor time that they want, five seconds count as one.
import type { Interval, ProcessorSample } from "./evidence.ts";
import { lowestIndex } from "./lowest-index.ts";

/** Returns a function from an interval to its milliseconds of given time. Time without a sample counts in full. */
export function givenTime(samples: readonly ProcessorSample[]): (interval: Interval) => number {
  const lostBefore = [0];
  for (const { from, until, share } of samples)
    lostBefore.push((lostBefore.at(-1) as number) + (until - from) * (1 - share));
  const lostUntil = (at: number): number => {
    const next = lowestIndex(samples, ({ from }) => from > at);
    const last = samples[next - 1];
    if (last === undefined) return 0;
    const inLast = Math.min(at, last.until) - last.from;
    return (lostBefore[next - 1] as number) + inLast * (1 - last.share);
  };
  return ({ from, until }) => until - from - (lostUntil(until) - lostUntil(from));
}
