// Notices when this process is kept waiting for its turn. It knows nothing of the engine, and the others share its
// machine and reach the database through its proxies: what it waits, they wait as well.
import { monotonicMs } from "../benchmarks/monotonic.ts";
import type { Stretch } from "./evidence.ts";

const tickMs = 20;
/** Timers are a few milliseconds late on an idle machine, too. */
const unnoticedMs = 20;

export class StallWatch {
  readonly stretches: Stretch[] = [];
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
    if (this.#tickedAt - from > unnoticedMs) this.stretches.push({ from, until: this.#tickedAt });
  }
}
