// How long an attempt waited before it was sent: for the time of its retry, then for its turn.
import type { Attempt } from "@posthorn/client";

export interface AttemptWaits {
  /** From the end of the previous attempt to the time planned for this one. Null if it is no automatic retry. */
  readonly retryMs: number | null;
  /** From the time at which it was due to its start. Null if that is not known. */
  readonly turnMs: number | null;
}

type Known = Pick<Attempt, "trigger" | "started_at" | "duration_ms" | "next_retry_at" | "phases">;

export function attemptWaits(attempt: Known, previous: Known | undefined): AttemptWaits {
  return { retryMs: retryMs(attempt, previous), turnMs: attempt.phases.queue_ms };
}

function retryMs({ trigger }: Known, previous: Known | undefined): number | null {
  if (trigger !== "retry" || previous === undefined) return null;
  const { started_at, duration_ms, next_retry_at } = previous;
  if (started_at === null || duration_ms === null || next_retry_at === null) return null;
  return Math.max(0, Date.parse(next_retry_at) - Date.parse(started_at) - duration_ms);
}
