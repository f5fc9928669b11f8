// Claims whose rows are locked by a transaction of this process that finishes them. Nobody can take them from it, and no
// renewal can reach them. When the transaction is undone their leases are set anew, whether or not they are over by then: what
// comes next is to note the failure.
import type { Claim } from "../store.ts";

/** Where no renewal was asked for, as while the event loop was blocked. */
const ROLLBACK_LEASE_MS = 10_000;

export class LockedClaims {
  /** By token: how long a lease is to be when the transaction is undone. */
  readonly #leases = new Map<string, number>();

  /** False: it is not held, and has to be renewed where it is. */
  recordRenewal({ token }: Claim, leaseMs: number): boolean {
    const isHeld = this.#leases.has(token);
    if (isHeld) this.#leases.set(token, leaseMs);
    return isHeld;
  }

  begin({ token }: Claim): void {
    this.#leases.set(token, ROLLBACK_LEASE_MS);
  }

  /** Null: it was not held. */
  leaseAfterRollback({ token }: Claim): number | null {
    return this.#leases.get(token) ?? null;
  }

  end({ token }: Claim): void {
    this.#leases.delete(token);
  }
}
