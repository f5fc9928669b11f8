// Detects when this process is not scheduled in time. The processes under test share its machine and use its proxies, so
// they are delayed too.
import { monotonicMs } from "../../benchmarks/system/monotonic.ts";
import type { Interval } from "../evidence/evidence.ts";

const tickMs = 20;
/** Timers are a few milliseconds late even on an idle machine. */
const toleranceMs = 20;

export class StallWatch {
  readonly intervals: Interval[] = [];
  readonly #timer: NodeJS.Timeout;
  #tickedAt = monotonicMs();

  constructor() {
    this.#timer = setInterval(() => this.#tick(), tickMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const from = this.#tickedAt + tickMs;
    this.#tickedAt = monotonicMs();
    if (this.#tickedAt - from > toleranceMs) this.intervals.push({ from, until: this.#tickedAt });
  }
}
