// Notices when the machine stands still. Everything but w3 reaches the database through proxies of this process: while
// it gets no turn nobody is served, and that is no fault of the engine's.
import { monotonicMs } from "../benchmarks/monotonic.ts";
import type { Stretch } from "./evidence.ts";

const tickMs = 50;
/** A tick that comes later than this found the machine busy with something else. */
const stallMs = 250;

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
    const from = this.#tickedAt;
    this.#tickedAt = monotonicMs();
    if (this.#tickedAt - from > stallMs) this.stretches.push({ from, until: this.#tickedAt });
  }
}
