import { performance } from "node:perf_hooks";

/**
 * The database's clock, advanced by the process's monotonic clock. Timestamps in signatures and attempts stay correct on
 * a machine with a wrong wall clock, and follow the clock that tests move in SQL.
 */
export class Clock {
  #originMs: number = Date.now() - performance.now();

  now(): Date {
    return new Date(this.nowMs());
  }

  nowMs(): number {
    return Math.round(this.#originMs + performance.now());
  }

  /**
   * `requestedAt` and `receivedAt` are monotonic times before and after reading the database's time. The clock changes only
   * if it contradicts the reading, because a reading that took long is imprecise.
   */
  follow(databaseMs: number, requestedAt: number, receivedAt: number): void {
    this.#originMs = Math.min(Math.max(this.#originMs, databaseMs - receivedAt), databaseMs - requestedAt);
  }
}
