// Claims whose rows are locked by a transaction of this process that completes them. No other process can claim them, and no
// renewal can reach them. After a rollback their leases are renewed, even if expired by then, so that the failure can be
// recorded.
import type { Claim } from "../store.ts";

/** Used if no renewal was requested, for example because the event loop was blocked. */
const ROLLBACK_LEASE_MS = 10_000;

export class LockedClaims {
  /** By token: the lease to set after a rollback. */
  readonly #leases = new Map<string, number>();

  /** Returns false if the claim is not locked here and must be renewed in the store. */
  recordRenewal({ token }: Claim, leaseMs: number): boolean {
    const isHeld = this.#leases.has(token);
    if (isHeld) this.#leases.set(token, leaseMs);
    return isHeld;
  }

  begin({ token }: Claim): void {
    this.#leases.set(token, ROLLBACK_LEASE_MS);
  }

  /** Null if it was not locked. */
  leaseAfterRollback({ token }: Claim): number | null {
    return this.#leases.get(token) ?? null;
  }

  end({ token }: Claim): void {
    this.#leases.delete(token);
  }
}
