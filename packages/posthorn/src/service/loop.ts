import { performance } from "node:perf_hooks";
import type { Logger } from "../observe/log.ts";

export interface LoopOptions {
  readonly name: string;
  /** If it is a function, it is called before every pause. */
  readonly intervalMs: number | (() => number);
  readonly logger: Logger;
  /** Returns true to run again at once. */
  readonly step: () => Promise<boolean>;
}

/** The interval of a loop that the poller wakes when it has work. */
export const POLLED_MS = 60_000;

const logEveryMs = 10_000;

/**
 * Runs a step repeatedly: at once when woken, otherwise after its interval. Errors are logged and the loop continues: the
 * first error of an outage at once, later ones every ten seconds, and the recovery once. It may be stopped twice, or before
 * it was started.
 */
export class Loop {
  readonly #options: LoopOptions;
  #running: Promise<void> | undefined;
  #stopped = false;
  #woken = false;
  #failures = 0;
  #failingSince = 0;
  #isFailureLogged = false;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #wakeSleeper: (() => void) | undefined;
  /** Resolved after the next run. */
  readonly #watchers: (() => void)[] = [];

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#running !== undefined || this.#stopped) return;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wakeSleeper?.();
    await this.#running;
    for (const resolve of this.#watchers.splice(0)) resolve();
  }

  wake(): void {
    this.#woken = true;
    this.#wakeSleeper?.();
  }

  /** Resolves after a run that started later than this call. */
  async runNow(): Promise<void> {
    if (this.#stopped || this.#running === undefined) return;
    const done = new Promise<void>((resolve) => this.#watchers.push(resolve));
    this.wake();
    await done;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const watchers = this.#watchers.splice(0);
      const again = await this.#step();
      for (const resolve of watchers) resolve();
      if (!again && !this.#woken && !this.#stopped) await this.#sleep(this.#intervalMs);
    }
  }

  async #step(): Promise<boolean> {
    const started = performance.now();
    try {
      const again = await this.#options.step();
      if (this.#isFailureLogged) this.#logRecovery();
      this.#failures = 0;
      return again;
    } catch (error) {
      this.#logFailure(error as Error, started);
      // waking does not shorten the backoff
      await this.#sleep(
        Math.min(2_000, 50 * 2 ** Math.min(this.#failures, 6)) * (0.5 + Math.random() / 2),
        false,
      );
      return true;
    }
  }

  #logFailure(error: Error, started: number): void {
    const now = performance.now();
    if (this.#failures === 0) this.#failingSince = started;
    this.#failures += 1;
    if (now - this.#loggedAt < logEveryMs) return;
    this.#loggedAt = now;
    this.#isFailureLogged = true;
    const { logger, name } = this.#options;
    logger.warn(`${name} failed; it will be retried`, {
      // an AggregateError of refused connections has no message
      error: error.message || String((error as { code?: string }).code ?? error.name),
      failures: this.#failures,
      afterMs: Math.round(now - started),
    });
  }

  #logRecovery(): void {
    const { logger, name } = this.#options;
    logger.info(`${name} recovered`, {
      failures: this.#failures,
      afterMs: Math.round(performance.now() - this.#failingSince),
    });
    this.#isFailureLogged = false;
  }

  get #intervalMs(): number {
    const { intervalMs } = this.#options;
    return typeof intervalMs === "function" ? intervalMs() : intervalMs;
  }

  async #sleep(ms: number, wakeable = true): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeSleeper = () => {
        if (!wakeable && !this.#stopped) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wakeSleeper = undefined;
  }
}
