// What is being worked on, for whoever stops: it is waited for, but not for ever.
import type { Runtime } from "../runtime.ts";

/** Beyond a handler's time, for the store's part of the work. */
const STORE_WAIT_MS = 10_000;

export class InFlight {
  readonly #works = new Set<Promise<unknown>>();

  get size(): number {
    return this.#works.size;
  }

  async track<Result>(work: () => Promise<Result>): Promise<Result> {
    const working = work();
    this.#works.add(working);
    try {
      return await working;
    } finally {
      this.#works.delete(working);
    }
  }

  /** Resolves when all that is in hand now has ended, well or not. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#works);
  }
}

/** Resolves when it ended, or must have but for a store that hangs: then that is told. */
export async function drain<Tx>(
  { settings, report }: Pick<Runtime<Tx>, "settings" | "report">,
  ended: Promise<unknown>,
): Promise<void> {
  const waitMs = settings.handlerTimeoutMs + STORE_WAIT_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hung = new Promise<"hung">((resolve) => {
    timer = setTimeout(() => resolve("hung"), waitMs);
  });
  const how = await Promise.race([ended.then(() => "ended" as const), hung]);
  clearTimeout(timer);
  if (how === "hung")
    report.failure(null, new Error(`Stopped while the store was silent for ${waitMs} ms.`), 0);
}
