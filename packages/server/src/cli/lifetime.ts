// The life of a command that runs until it is told to stop: what was opened last is closed first, within a grace.
// The first signal stops in order, the second at once.
import type { Logger } from "posthorn";

export type Closer = (graceMs: number) => Promise<unknown>;

export class Lifetime {
  readonly #closers: Closer[] = [];
  readonly #graceMs: number;
  readonly #logger: Logger;
  #ending: Promise<void> | undefined;

  constructor(options: { readonly graceMs: number; readonly logger: Logger }) {
    this.#graceMs = options.graceMs;
    this.#logger = options.logger;
  }

  /** Called when the life ends, in reverse order, with what is left of the grace. */
  onEnd(close: Closer): void {
    this.#closers.push(close);
  }

  /** From now on SIGTERM and SIGINT end the process. */
  listenForSignals(): void {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => this.#onSignal(signal));
  }

  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  #onSignal(signal: string): void {
    if (this.isEnding) {
      this.#logger.warn("stopped at once: what was in flight is delivered again by the next start", {
        signal,
      });
      process.exit(1);
    }
    this.#logger.info("stopping; once more to stop at once", { signal, graceMs: this.#graceMs });
    this.end().then(
      () => process.exit(0),
      (error: unknown) => {
        this.#logger.error("could not stop in order", { error });
        process.exit(1);
      },
    );
  }

  async #end(): Promise<void> {
    const deadline = performance.now() + this.#graceMs;
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      // What cannot be closed must not keep the rest open.
      await close(Math.max(0, deadline - performance.now())).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}
