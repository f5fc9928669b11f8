// How many attempts of its policy an unfinished delivery has used, and the delays before the others.
import type { Attempt, Delivery, Endpoint } from "@posthorn/client";
import { maxAttempts, plannedDelayMs } from "@posthorn/wire";

export interface RetryProgress {
  readonly used: number;
  readonly planned: number;
  /** Milliseconds before each attempt that follows the next one. */
  readonly laterDelaysMs: readonly number[];
  /** The delays are random up to these. */
  readonly isRandom: boolean;
}

interface Known {
  readonly state: Delivery["state"];
  /** Oldest first. */
  readonly attempts: readonly Pick<Attempt, "trigger" | "error">[];
}

/** A manual retry and a replay begin the policy anew: the delivery is `pending`, and then has an attempt of theirs. */
export function retryProgress(shown: Endpoint["retry_policy"], { state, attempts }: Known): RetryProgress {
  const { gaps_ms: gapsMs, base_ms: baseMs = 0, cap_ms: capMs = 0, max_attempts: most = 1 } = shown;
  const policy = gapsMs
    ? ({ kind: "gaps", gapsMs } as const)
    : ({ kind: "exponential", baseMs, capMs, maxAttempts: most } as const);
  const start = attempts.findLastIndex(({ trigger }) => trigger === "manual" || trigger === "replay");
  const ofThisRound = state === "pending" ? [] : attempts.slice(Math.max(start, 0));
  // the policy does not count attempts whose outcome is unknown
  const used = ofThisRound.filter(({ error }) => error !== "unknown").length;
  const planned = maxAttempts(policy);
  const laterDelaysMs = Array.from({ length: Math.max(planned - used - 1, 0) }, (_, index) =>
    plannedDelayMs(policy, used + 1 + index),
  );
  return { used, planned, laterDelaysMs, isRandom: policy.kind === "exponential" };
}
