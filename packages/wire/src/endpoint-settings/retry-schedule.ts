// The schedule of a retry policy, in numbers and in words.
import { RETRY_PRESET_NAMES, RETRY_PRESETS } from "./presets.ts";
import type { RetryPolicy } from "./setting.ts";

export function maxAttempts(policy: RetryPolicy): number {
  return policy.kind === "gaps" ? policy.gapsMs.length + 1 : policy.maxAttempts;
}

/** The delay after the nth failure without jitter: a gap, or the largest random delay. */
export function plannedDelayMs(policy: RetryPolicy, failures: number): number {
  const nth = Math.max(failures, 1);
  if (policy.kind === "gaps") return policy.gapsMs[nth - 1] ?? 0;
  return Math.min(policy.capMs, policy.baseMs * 2 ** nth);
}

/** Returns the planned delays: `1m, 5m, 15m`, or `random up to 2m, 4m, 8m, …, 1d`. */
export function scheduleText(policy: RetryPolicy): string {
  const delays = plannedDelays(policy).map(durationText);
  if (policy.kind === "gaps") return delays.join(", ") || "none";
  const shown = delays.length > 5 ? [...delays.slice(0, 3), "…", delays.at(-1)] : delays;
  return delays.length === 0 ? "none" : `random up to ${shown.join(", ")}`;
}

/** Returns the longest time from the first attempt to the last one, which may be exceeded by the jitter of gaps. */
export function longestScheduleMs(policy: RetryPolicy): number {
  return plannedDelays(policy).reduce((sum, delayMs) => sum + delayMs, 0);
}

function plannedDelays(policy: RetryPolicy): number[] {
  return Array.from({ length: maxAttempts(policy) - 1 }, (_, index) => plannedDelayMs(policy, index + 1));
}

/**
 * Reads a policy from a command line or a form: a JSON object, or the name of a preset or gaps. What is no JSON stays
 * text, so that the error shows it.
 */
export function writtenRetryPolicy(text: string): unknown {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return trimmed;
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    return trimmed;
  }
}

/** Returns all presets with their schedules, each name in the given quotes. */
export function presetsText(quote = ""): string {
  return RETRY_PRESET_NAMES.map(
    (name) => `${quote}${name}${quote} (${scheduleText(RETRY_PRESETS[name])})`,
  ).join(", ");
}

/** The words for units, largest first. */
const UNITS = Object.entries({ d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 });

/** Returns a duration in the largest unit without a remainder, as retry policies are written: `90s`, `5m`. */
export function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms > 0 && ms % length === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

/** Returns a duration in its two largest units, rounded down: `7h 21m`. */
export function aboutText(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  if (first === -1) return `${ms}ms`;
  let rest = ms;
  const parts = UNITS.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? "" : `${count}${unit}`;
  });
  return parts.filter((part) => part !== "").join(" ");
}
