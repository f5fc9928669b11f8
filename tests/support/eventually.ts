// Waits for conditions that nothing signals. Prefer a signal: a response, a log line, an event of a receiver.
// biome-ignore lint/plugin: the interval of the one polling helper
import { setTimeout as delay } from "node:timers/promises";

/** Longer than any wait takes on a busy machine; only a condition that never holds lasts as long. */
const defaultLimitMs = 20_000;
const intervalMs = 20;

/** Tries again while the condition throws or returns nothing or false. Returns its value. */
export async function eventually<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
  limitMs = defaultLimitMs,
): Promise<Exclude<NonNullable<Value>, false>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    let cause: unknown;
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined)
        return value as Exclude<NonNullable<Value>, false>;
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
