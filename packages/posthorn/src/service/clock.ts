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
   * `askedAt` and `answeredAt` are monotonic times before and after reading the database's time. The clock changes only
   * if it contradicts the reading, because a reading that took long says little about the time.
   */
  follow(databaseMs: number, askedAt: number, answeredAt: number): void {
    this.#originMs = Math.min(Math.max(this.#originMs, databaseMs - answeredAt), databaseMs - askedAt);
  }
}
