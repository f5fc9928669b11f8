// The ways in which tests wait. Prefer a signal: a response, a log line, an event of a receiver.
// biome-ignore lint/plugin: the interval of the one polling helper
import { setTimeout as delay } from "node:timers/promises";

/** Longer than any wait takes on a busy machine; reached only if the condition never holds. */
const defaultLimitMs = 20_000;
const intervalMs = 20;

type Present<Value> = Exclude<NonNullable<Value>, false>;

/** Tries again while the condition throws or returns nothing or false. Returns its value. */
export async function eventually<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
  limitMs = defaultLimitMs,
): Promise<Present<Value>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    let cause: unknown;
    try {
      const value = await condition();
      if (isPresent(value)) return value;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline) {
      const reason = cause instanceof Error ? `: ${cause.message}` : "";
      throw new Error(`Waited ${limitMs} ms until ${what}${reason}`, { cause });
    }
    await delay(intervalMs);
  }
}

/** Tries again until the assertions pass. */
export async function eventuallyPasses<Value>(assertions: () => Value | Promise<Value>): Promise<Value> {
  const { value } = await eventually("the assertions pass", async () => ({ value: await assertions() }));
  return value;
}

/** Like `eventually` for conditions that are checked at each `notify`, and at no other time. */
export class Signal {
  readonly #checks = new Set<() => void>();

  notify(): void {
    for (const check of this.#checks) check();
  }

  until<Value>(
    what: () => string,
    condition: () => Value,
    limitMs = defaultLimitMs,
  ): Promise<Present<Value>> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const value = condition();
        if (!isPresent(value)) return;
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve(value);
      };
      const timer = setTimeout(() => {
        this.#checks.delete(check);
        reject(new Error(`Waited ${limitMs} ms until ${what()}`));
      }, limitMs).unref();
      this.#checks.add(check);
      check();
    });
  }
}

function isPresent<Value>(value: Value): value is Present<Value> {
  return value !== false && value !== null && value !== undefined;
}
