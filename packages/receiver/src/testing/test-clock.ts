// A clock that moves only when advanced, for sender and receiver.
import type { SenderClock } from "./sender.ts";

export interface TestClock extends SenderClock {
  advance(ms: number): void;
}

/** Starts at `start`, by default now. Only `advance` and a sender's waits move it. */
export function createTestClock(start: Date = new Date()): TestClock {
  let nowMs = start.getTime();
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { now: () => new Date(nowMs), advance, wait: async (ms) => advance(ms) };
}
