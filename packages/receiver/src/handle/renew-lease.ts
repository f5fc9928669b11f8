// Renews a lease during work, and signals when it is lost.
import type { Claim, Store } from "../store.ts";

/** Three attempts before the lease expires. */
const RENEWALS_PER_LEASE = 3;

/** Aborts the signal of `work` when the lease is lost; `work` decides what to do. */
export async function renewLeaseDuring<Result>(
  store: Store,
  claim: Claim,
  leaseMs: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const lost = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const lose = () => lost.abort(new Error("The lease was lost: another process may have the event."));
  // A separate timer, because a renewal may hang.
  let end = setTimeout(lose, leaseMs);

  const renew = async () => {
    const requestedAt = performance.now();
    // Null: an unavailable store may still renew in time.
    const isHeld = await store.renew(claim, leaseMs).catch(() => null);
    if (isOver) return;
    if (isHeld === false) lose();
    if (lost.signal.aborted) return;
    if (isHeld) {
      clearTimeout(end);
      end = setTimeout(lose, leaseMs - (performance.now() - requestedAt));
    }
    schedule();
  };
  const schedule = () => {
    timer = setTimeout(() => void renew(), leaseMs / RENEWALS_PER_LEASE);
  };

  schedule();
  try {
    return await work(lost.signal);
  } finally {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(end);
  }
}
