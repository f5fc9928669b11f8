// When the next attempt is due. Pure: the number of failures comes from the row, randomness from the caller.
import { maxAttempts, plannedDelayMs, RETRY_PRESETS, type RetryPresetName } from "@posthorn/wire";
import type { RetryPolicy } from "../model.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A longer Retry-After is shortened to a day. */
export const MAX_RETRY_AFTER_MS = DAY;

/** Checks a stored policy, which may have been written by another release or by hand. */
export function isRetryPolicy(stored: RetryPolicy | null): stored is RetryPolicy {
  if (stored?.kind === "gaps") return Array.isArray(stored.gapsMs) && stored.gapsMs.every(Number.isFinite);
  if (stored?.kind !== "exponential") return false;
  return [stored.baseMs, stored.capMs, stored.maxAttempts].every(Number.isFinite);
}

export interface DelayInput {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The delay the receiver asked for; it never makes an attempt earlier. */
  readonly retryAfterMs?: number | undefined;
  /** Age of the delivery, for a policy with a maximum age. */
  readonly ageMs: number;
}

/** `failures` includes the current one. Returns null if no attempt is left. */
export function nextDelayMs(policy: RetryPolicy, failures: number, input: DelayInput): number | null {
  if (failures >= maxAttempts(policy)) return null;
  const askedMs = Math.min(input.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  const scheduledMs = withJitter(policy, plannedDelayMs(policy, failures), input.random());
  const delayMs = Math.max(scheduledMs, askedMs);
  return input.ageMs + delayMs > (policy.maxAgeMs ?? Number.POSITIVE_INFINITY) ? null : delayMs;
}

/** Full jitter for exponential growth; ten percent for gaps. */
function withJitter(policy: RetryPolicy, delayMs: number, chance: number): number {
  return Math.round(delayMs * (policy.kind === "exponential" ? chance : 0.9 + 0.2 * chance));
}

export class InvalidRetryPolicyError extends Error {
  override readonly name = "InvalidRetryPolicyError";
}

const MAX_GAPS = 100;
const MAX_GAP_MS = 30 * DAY;

/** Parses a preset's name, or gaps such as `200ms,1s,5s` or `1m 5m 1h`. */
export function parseRetryPolicy(text: string): RetryPolicy {
  const words = text.trim().split(/\s*,\s*|\s+/);
  const [first = ""] = words;
  if (words.length === 1 && isPresetName(first)) return RETRY_PRESETS[first];
  if (first === "") throw new InvalidRetryPolicyError(`The retry policy is empty. ${EXPECTED}`);
  if (words.length > MAX_GAPS) {
    throw new InvalidRetryPolicyError(
      `The retry policy has ${words.length} gaps. At most ${MAX_GAPS} are allowed.`,
    );
  }
  return { kind: "gaps", gapsMs: words.map(parseGap) };
}

const EXPECTED = `Use one of ${Object.keys(RETRY_PRESETS).join(", ")}, or a list of gaps such as 30s,5m,1h.`;

/** Returns the policy of a preset, or throws InvalidRetryPolicyError. */
export function presetNamed(name: unknown): RetryPolicy {
  if (typeof name === "string" && isPresetName(name)) return RETRY_PRESETS[name];
  throw new InvalidRetryPolicyError(`preset is one of ${Object.keys(RETRY_PRESETS).join(", ")}.`);
}

function isPresetName(text: string): text is RetryPresetName {
  return Object.hasOwn(RETRY_PRESETS, text);
}

function parseGap(text: string): number {
  const gapMs = parseDuration("The gap", text);
  if (gapMs === null) {
    const hint = /^[\d.]+$/.test(text) ? " It needs a unit: ms, s, m, h or d." : "";
    throw new InvalidRetryPolicyError(
      `"${text.slice(0, 40)}" is neither a preset nor a gap.${hint} ${EXPECTED}`,
    );
  }
  return gapMs;
}

/** A time of a policy; null if it is not written as one. */
export function parseDuration(what: string, text: string): number | null {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  const unitMs = unit === undefined ? undefined : UNITS_MS[unit];
  if (unitMs === undefined) return null;
  const ms = Math.round(Number(amount) * unitMs);
  if (ms >= 1 && ms <= MAX_GAP_MS) return ms;
  throw new InvalidRetryPolicyError(`${what} ${text} is out of bounds. Use something from 1ms to 30d.`);
}

const DURATION = /^(\d{1,10}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;
const UNITS_MS: Readonly<Record<string, number | undefined>> = {
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
};
