// What a handler's error means for its message: again, later, or dead.

import { EndpointGone, PermanentFailure, RetryLater } from "../errors.ts";
import type { Outcome } from "../respond.ts";
import type { Failure } from "../store.ts";

export interface FailurePolicy {
  /** Null: only `PermanentFailure` makes a dead letter. */
  readonly afterTries: number | null;
  /** By the number of failures, how long the inbox waits; null: the sender brings it again. */
  readonly delayMs: ((failures: number) => number) | null;
}

export interface Decision {
  readonly failure: Failure;
  readonly outcome: Outcome;
}

/** `tries`: failures before this one. */
export function decideFailure(error: unknown, tries: number, policy: FailurePolicy): Decision {
  const failures = tries + 1;
  const text = errorLine(error);
  const { afterTries, delayMs } = policy;
  const isLast = afterTries !== null && failures >= afterTries;
  // Nobody is there any more to hear a 410 about what comes from the inbox.
  if (error instanceof PermanentFailure || isLast || (error instanceof EndpointGone && delayMs !== null)) {
    return { failure: { error: text, next: { kind: "dead" } }, outcome: { kind: "dead" } };
  }
  const askedMs = error instanceof RetryLater ? error.afterMs : null;
  const next: Failure["next"] =
    delayMs === null ? { kind: "release" } : { kind: "retry", afterMs: askedMs ?? delayMs(failures) };
  return { failure: { error: text, next }, outcome: outcomeOf(error, askedMs) };
}

function outcomeOf(error: unknown, askedMs: number | null): Outcome {
  if (error instanceof EndpointGone) return { kind: "gone" };
  return askedMs === null ? { kind: "failed" } : { kind: "retry_later", retryAfterMs: askedMs };
}

/** Doubled each time up to the maximum; a random half less, so that those who failed together do not return together. */
export function backoff(retries: { readonly firstDelayMs: number; readonly maxDelayMs: number }) {
  return (failures: number): number => {
    const fullMs = Math.min(retries.maxDelayMs, retries.firstDelayMs * 2 ** (failures - 1));
    return Math.round(fullMs * (0.5 + Math.random() / 2));
  };
}

const MAX_LINE_LENGTH = 1_000;

/** One line for people. Anything can be thrown, also what cannot be written. */
export function errorLine(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return text.replace(/\s+/g, " ").slice(0, MAX_LINE_LENGTH);
  } catch {
    return "Something was thrown that cannot be written as text.";
  }
}
