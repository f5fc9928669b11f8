// Decides when Posthorn would retry. Pure; the same rules as the sender's `classify` and `decide`, without jitter.

/** Posthorn's default: six attempts. */
export const COURIER_GAPS_MS: readonly number[] = [60_000, 300_000, 900_000, 3_600_000, 21_600_000];

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
  gapsMs: readonly number[] = COURIER_GAPS_MS,
): Next {
  if (status !== null && status >= 200 && status <= 299) return { kind: "delivered" };
  const askedMs = (retryAfterSeconds ?? 0) * 1_000;
  if (status === 409 && retryAfterSeconds !== null && waitedMs + askedMs <= DAY_MS) {
    const afterMs = Math.max(askedMs, Math.min(1_000 * 2 ** attempts, 60_000));
    return { kind: "retry", afterMs, isFailure: false };
  }
  const gapMs = gapsMs[failures];
  if (!isTransient(status, retryAfterSeconds) || gapMs === undefined) return { kind: "dead" };
  const believedMs = status !== null && [409, 429, 503].includes(status) ? Math.min(askedMs, DAY_MS) : 0;
  return { kind: "retry", afterMs: Math.max(gapMs, believedMs), isFailure: true };
}

const DAY_MS = 86_400_000;

function isTransient(status: number | null, retryAfterSeconds: number | null): boolean {
  if (status === null || status === 408 || status === 429) return true;
  if (status === 409) return retryAfterSeconds !== null;
  return status < 300 || status > 499;
}
