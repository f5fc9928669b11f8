// Normalises the ways to write a retry policy to the form that is stored.
import { isObject } from "@posthorn/wire";
import type { RetryPolicy } from "../model.ts";
import { InvalidRetryPolicyError, parseDuration, parseRetryPolicy, presetNamed } from "./retry-schedule.ts";

export type RetryPolicyInput =
  /** A preset such as `courier`, or gaps such as `200ms,1s,5s`. */
  | string
  /** A preset with other limits. */
  | { readonly preset: string; readonly maxAttempts?: number; readonly maxAge?: string }
  /** No gaps at all means one attempt. With `maxAttempts`, the last gap is repeated, or gaps are left out. */
  | { readonly gaps: readonly string[]; readonly maxAttempts?: number; readonly maxAge?: string }
  | {
      readonly exponential: { readonly base: string; readonly cap: string; readonly maxAttempts: number };
      readonly maxAge?: string;
    }
  /** As an `Endpoint` has it. */
  | RetryPolicy;

const MAX_ATTEMPTS = 101;

/** Throws InvalidRetryPolicyError; its message contains what to change. */
export function normaliseRetryPolicy(input: unknown): RetryPolicy {
  if (typeof input === "string") return parseRetryPolicy(input);
  if (!isObject(input)) throw new InvalidRetryPolicyError(EXPECTED);
  if ("kind" in input) return normaliseRetryPolicy(spelledOut(input));
  const { preset, gaps, exponential, maxAttempts, maxAge, ...unknown } = input;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) throw new InvalidRetryPolicyError(`A retry policy has no "${stray}". ${EXPECTED}`);
  if ([preset, gaps, exponential].filter((kind) => kind !== undefined).length !== 1)
    throw new InvalidRetryPolicyError(EXPECTED);
  if (exponential !== undefined && maxAttempts !== undefined)
    throw new InvalidRetryPolicyError("Give the maxAttempts of exponential growth inside exponential.");
  const policy = limited(policyOf(preset, gaps, exponential), maxAttempts);
  return maxAge === undefined ? policy : { ...policy, maxAgeMs: durationMs("maxAge", maxAge) };
}

function policyOf(preset: unknown, gaps: unknown, exponential: unknown): RetryPolicy {
  if (preset !== undefined) return presetNamed(preset);
  return gaps === undefined ? exponentialPolicy(exponential) : gapsPolicy(gaps);
}

const EXPECTED =
  "Write a retry policy as a preset, as gaps such as 30s,5m,1h, as { preset: 'courier' } or { gaps: ['30s', '5m'] }, " +
  "or as { exponential: { base: '1m', cap: '1d', maxAttempts: 12 } }; each object may have a maxAge such as 2d, " +
  "and with a preset or gaps maxAttempts.";

/** Repeats the last gap, or leaves out the last ones. */
function limited(policy: RetryPolicy, maxAttempts: unknown): RetryPolicy {
  if (maxAttempts === undefined) return policy;
  const attempts = readMaxAttempts(maxAttempts);
  if (policy.kind === "exponential") return { ...policy, maxAttempts: attempts };
  const { gapsMs } = policy;
  const last = gapsMs.at(-1);
  if (last === undefined && attempts > 1)
    throw new InvalidRetryPolicyError(
      "A retry policy without gaps has one attempt. Add a gap such as '30s'.",
    );
  return {
    ...policy,
    gapsMs: Array.from({ length: attempts - 1 }, (_, nth) => gapsMs[nth] ?? (last as number)),
  };
}

/** Converts the stored form to an input, so that what was read can be sent back. */
function spelledOut(shown: Record<string, unknown>): unknown {
  const { kind, gapsMs, baseMs, capMs, maxAttempts, maxAgeMs, ...unknown } = shown;
  const maxAge = maxAgeMs === undefined ? {} : { maxAge: inMs(maxAgeMs) };
  if (kind === "gaps" && Array.isArray(gapsMs)) return { ...unknown, gaps: gapsMs.map(inMs), ...maxAge };
  if (kind === "exponential") {
    return { ...unknown, exponential: { base: inMs(baseMs), cap: inMs(capMs), maxAttempts }, ...maxAge };
  }
  throw new InvalidRetryPolicyError(EXPECTED);
}

function inMs(value: unknown): string {
  return `${String(value)}ms`;
}

function gapsPolicy(gaps: unknown): RetryPolicy {
  if (!Array.isArray(gaps))
    throw new InvalidRetryPolicyError(`gaps is a list of texts such as '30s'. ${EXPECTED}`);
  if (gaps.length >= MAX_ATTEMPTS) {
    throw new InvalidRetryPolicyError(
      `The retry policy has ${gaps.length} gaps. At most ${MAX_ATTEMPTS - 1} are allowed.`,
    );
  }
  return { kind: "gaps", gapsMs: gaps.map((gap) => durationMs("gaps", gap)) };
}

function exponentialPolicy(exponential: unknown): RetryPolicy {
  if (!isObject(exponential)) throw new InvalidRetryPolicyError(EXPECTED);
  const { base, cap, maxAttempts, ...unknown } = exponential;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined)
    throw new InvalidRetryPolicyError(`An exponential policy has no "${stray}". ${EXPECTED}`);
  const [baseMs, capMs] = [durationMs("base", base), durationMs("cap", cap)];
  if (baseMs > capMs)
    throw new InvalidRetryPolicyError("The base of a retry policy must not be larger than its cap.");
  return { kind: "exponential", baseMs, capMs, maxAttempts: readMaxAttempts(maxAttempts) };
}

function readMaxAttempts(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_ATTEMPTS)
    return value as number;
  throw new InvalidRetryPolicyError(`maxAttempts is a whole number from 1 to ${MAX_ATTEMPTS}.`);
}

function durationMs(field: string, value: unknown): number {
  const ms = typeof value === "string" ? parseDuration(field, value) : null;
  if (ms !== null) return ms;
  throw new InvalidRetryPolicyError(`${field} needs a time with a unit, such as 200ms, 30s, 5m, 1h or 2d.`);
}
