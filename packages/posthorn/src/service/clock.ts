// The database's clock, carried forward by the process's monotonic one. Timestamps in signatures and attempts stay
// right on a machine whose wall clock is wrong, and in tests they follow the clock that is moved in SQL.
import { performance } from "node:perf_hooks";

export class Clock {
  #originMs: number = Date.now() - performance.now();

  now(): Date {
    return new Date(this.nowMs());
  }

  nowMs(): number {
    return Math.round(this.#originMs + performance.now());
  }

  /** `askedAt` and `answeredAt` are monotonic times around the statement that told the database's time. */
  follow(databaseMs: number, askedAt: number, answeredAt: number): void {
    this.#originMs = databaseMs - (askedAt + answeredAt) / 2;
  }
}
