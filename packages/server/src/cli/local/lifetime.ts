// The life of a command that runs until it is signalled to stop: resources are closed in reverse order, within a grace period.
// The first signal stops gracefully, a later one stops at once. Nothing outlives the process: what is registered as
// `alsoWhenForced` is closed in either case.
import type { Logger } from "posthorn";
import { withinMs } from "../../within-ms.ts";

export type Closer = (graceMs: number) => Promise<unknown>;

export interface LifetimeOptions {
  readonly graceMs: number;
  readonly logger: Logger;
  readonly exit?: (code: number) => void;
  readonly nowMs?: () => number;
}

/**
 * Under npm, one Ctrl+C reaches the process twice within milliseconds, because the terminal signals the whole group and
 * npm forwards the signal. `timeout` and some supervisors do the same.
 */
const SAME_SIGNAL_MS = 1_000;
/** Part of the grace period that is reserved for closing the listener and the embedded database. */
const RESERVE_MS = 2_000;
/** How long after the grace period the process waits before it exits anyway. */
const OVERDUE_MS = 2_000;
const FORCED_END_MS = 3_000;

export class Lifetime {
  readonly #closers: Closer[] = [];
  readonly #vital: Closer[] = [];
  readonly #graceMs: number;
  readonly #logger: Logger;
  readonly #exit: (code: number) => void;
  readonly #nowMs: () => number;
  #ending: Promise<void> | undefined;
  #forcedEnd: Promise<void> | undefined;
  #signalledAt = Number.NEGATIVE_INFINITY;

  constructor({ graceMs, logger, exit, nowMs }: LifetimeOptions) {
    this.#graceMs = graceMs;
    this.#logger = logger;
    this.#exit = exit ?? ((code) => process.exit(code));
    this.#nowMs = nowMs ?? (() => performance.now());
  }

  /** Registers a function that is called at the end, in reverse order, with the rest of the grace period. It may be called twice. */
  onEnd(close: Closer, { alsoWhenForced = false }: { readonly alsoWhenForced?: boolean } = {}): void {
    this.#closers.push(close);
    if (alsoWhenForced) this.#vital.push(close);
  }

  /** Ends the process on SIGTERM and SIGINT. */
  listenForSignals(): void {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => this.signal(signal));
  }

  signal(signal: string): void {
    if (!this.isEnding) {
      this.#signalledAt = this.#nowMs();
      this.#logger.info("stopping; send the signal again to stop at once", {
        signal,
        graceMs: this.#graceMs,
      });
      void this.#endGracefully();
    } else if (this.#nowMs() - this.#signalledAt >= SAME_SIGNAL_MS) {
      void this.#forceEnd("stopped at once; deliveries in flight are retried after the next start", {
        signal,
      });
    }
  }

  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  async #endGracefully(): Promise<void> {
    const overdue = setTimeout(() => {
      void this.#forceEnd("stopped after the grace period, although not everything was closed", {});
    }, this.#graceMs + OVERDUE_MS);
    try {
      await this.end();
      if (this.#forcedEnd !== undefined) return;
      this.#logger.info("stopped");
      this.#exit(0);
    } catch (error) {
      if (this.#forcedEnd !== undefined) return;
      this.#logger.error("stopped with an error", { error });
      this.#exit(1);
    } finally {
      clearTimeout(overdue);
    }
  }

  #forceEnd(message: string, fields: Record<string, unknown>): Promise<void> {
    this.#forcedEnd ??= (async () => {
      await withinMs(FORCED_END_MS, Promise.allSettled(this.#vital.toReversed().map((close) => close(0))));
      this.#logger.warn(message, fields);
      this.#exit(1);
    })();
    return this.#forcedEnd;
  }

  async #end(): Promise<void> {
    const deadline = this.#nowMs() + withoutReserve(this.#graceMs);
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      // A failure must not keep the rest open.
      await close(Math.max(0, deadline - this.#nowMs())).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Returns the part of a grace period in which work in flight may finish. */
export function withoutReserve(graceMs: number): number {
  return graceMs - Math.min(RESERVE_MS, graceMs / 5);
}
