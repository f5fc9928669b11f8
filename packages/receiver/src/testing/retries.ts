// Decides when Posthorn would retry. Pure; the same rules as the sender's `classify` and `decide`, without jitter.
import { RETRY_PRESETS } from "@posthorn/wire";

/** The state before the attempt. */
export interface AttemptState {
  readonly attempts: number;
  /** Attempts that count against the gaps: all except those that got 409 with `Retry-After`. */
  readonly failures: number;
  /** Since the first attempt. */
  readonly waitedMs: number;
}

export type Next =
  | { readonly kind: "delivered" }
  | { readonly kind: "dead" }
  | { readonly kind: "retry"; readonly afterMs: number; readonly isFailure: boolean };

/** `status` is null if there was no response. */
export function nextAttempt(
  status: number | null,
  retryAfterSeconds: number | null,
  { attempts, failures, waitedMs }: AttemptState,
  gapsMs: readonly number[] = RETRY_PRESETS.courier.gapsMs,
): Next {
  if (status !== null && status >= 200 && status <= 299) return { kind: "delivered" };
  const requestedMs = (retryAfterSeconds ?? 0) * 1_000;
  if (status === 409 && retryAfterSeconds !== null && waitedMs + requestedMs <= DAY_MS) {
    const afterMs = Math.max(requestedMs, Math.min(1_000 * 2 ** attempts, 60_000));
    return { kind: "retry", afterMs, isFailure: false };
  }
  const gapMs = gapsMs[failures];
  if (!isTransient(status, retryAfterSeconds) || gapMs === undefined) return { kind: "dead" };
  const acceptedMs = status !== null && [409, 429, 503].includes(status) ? Math.min(requestedMs, DAY_MS) : 0;
  return { kind: "retry", afterMs: Math.max(gapMs, acceptedMs), isFailure: true };
}

const DAY_MS = 86_400_000;

function isTransient(status: number | null, retryAfterSeconds: number | null): boolean {
  if (status === null || status === 408 || status === 429) return true;
  if (status === 409) return retryAfterSeconds !== null;
  return status < 300 || status > 499;
}
