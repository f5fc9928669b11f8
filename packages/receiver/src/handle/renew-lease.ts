// Keeps a lease while work goes on, and says when it could not.
import type { Claim, Store } from "../store.ts";

/** Three chances before the lease ends. */
const RENEWALS_PER_LEASE = 3;

/** `work` is told by its signal when the lease was lost; what it does then is up to it. */
export async function renewLeaseDuring<Result>(
  store: Store,
  claim: Claim,
  leaseMs: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const lost = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const lose = () => lost.abort(new Error("The lease was lost: somebody else may have the event."));
  // A timer of its own, since a renewal may hang.
  let end = setTimeout(lose, leaseMs);

  const renew = async () => {
    const askedAt = performance.now();
    // null: a store that is away for a moment may still renew in time
    const isHeld = await store.renew(claim, leaseMs).catch(() => null);
    if (isOver) return;
    if (isHeld === false) lose();
    if (lost.signal.aborted) return;
    if (isHeld) {
      clearTimeout(end);
      end = setTimeout(lose, leaseMs - (performance.now() - askedAt));
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
