// Tracks work in flight, so that `stop` can wait for it with a time limit.
import type { Runtime } from "../runtime.ts";
import { withTimeout } from "../timeout.ts";

/** In addition to a handler's time limit, for the store's part of the work. */
const STORE_WAIT_MS = 10_000;

export class InFlight {
  readonly #inFlight = new Set<Promise<unknown>>();

  get size(): number {
    return this.#inFlight.size;
  }

  async track<Result>(work: () => Promise<Result>): Promise<Result> {
    const working = work();
    this.#inFlight.add(working);
    try {
      return await working;
    } finally {
      this.#inFlight.delete(working);
    }
  }

  /** Resolves when all work that is in flight now has ended, successfully or not. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }
}

/** Waits until the work has ended, but no longer than handlers may take; then it reports that the store hangs. */
export async function drain<Tx>(
  { settings, report }: Pick<Runtime<Tx>, "settings" | "report">,
  ended: Promise<unknown>,
): Promise<void> {
  const waitMs = settings.handlerTimeoutMs + STORE_WAIT_MS;
  const hung = () =>
    new Error(`Stopped without waiting for the store, which did not respond for ${waitMs} ms.`);
  await withTimeout(() => ended, waitMs, hung).catch((error) => report.failure(null, error, 0));
}
