// Decides what a handler's error means for its message: release, retry, or dead.

import { EndpointGone, PermanentFailure, RetryLater } from "../errors.ts";
import type { Outcome } from "../respond.ts";
import type { Failure } from "../store.ts";

export interface FailurePolicy {
  /** Null: only `PermanentFailure` makes a dead letter. */
  readonly afterFailures: number | null;
  /** The delay of the inbox after this many failures; null if the sender retries. */
  readonly delayMs: ((failures: number) => number) | null;
}

export interface Decision {
  readonly failure: Failure;
  readonly outcome: Outcome;
}

export function decideFailure(error: unknown, earlierFailures: number, policy: FailurePolicy): Decision {
  const failures = earlierFailures + 1;
  const text = errorLine(error);
  const { afterFailures, delayMs } = policy;
  const isLast = afterFailures !== null && failures >= afterFailures;
  // For messages from the inbox, no sender is waiting for a 410.
  if (error instanceof PermanentFailure || isLast || (error instanceof EndpointGone && delayMs !== null)) {
    return { failure: { error: text, next: { kind: "dead" } }, outcome: { kind: "dead" } };
  }
  const requestedMs = error instanceof RetryLater ? error.afterMs : null;
  const next: Failure["next"] =
    delayMs === null ? { kind: "release" } : { kind: "retry", afterMs: requestedMs ?? delayMs(failures) };
  return { failure: { error: text, next }, outcome: outcomeOf(error, requestedMs) };
}

function outcomeOf(error: unknown, requestedMs: number | null): Outcome {
  if (error instanceof EndpointGone) return { kind: "gone" };
  return requestedMs === null ? { kind: "failed" } : { kind: "retry_later", retryAfterMs: requestedMs };
}

/** Doubles the delay each time up to the maximum, and subtracts up to half of it at random to spread retries. */
export function backoff(retries: { readonly firstDelayMs: number; readonly maxDelayMs: number }) {
  return (failures: number): number => {
    const fullMs = Math.min(retries.maxDelayMs, retries.firstDelayMs * 2 ** (failures - 1));
    return Math.round(fullMs * (0.5 + Math.random() / 2));
  };
}

const MAX_LINE_LENGTH = 1_000;

/** One line for people. Any value can be thrown, including one that has no text form. */
export function errorLine(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return text.replace(/\s+/g, " ").slice(0, MAX_LINE_LENGTH);
  } catch {
    return "Something was thrown that cannot be written as text.";
  }
}
