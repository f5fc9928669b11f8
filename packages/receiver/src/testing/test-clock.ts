// A clock that moves when it is told to, for sender and receiver alike.
import type { SenderClock } from "./sender.ts";

export interface TestClock extends SenderClock {
  advance(ms: number): void;
}

/** Stands still at `start`, or at the time of day, but for `advance` and for what a sender waits. */
export function createTestClock(start: Date = new Date()): TestClock {
  let nowMs = start.getTime();
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { now: () => new Date(nowMs), advance, wait: async (ms) => advance(ms) };
}
