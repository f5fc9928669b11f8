// Claims whose rows are locked by a transaction of this process that finishes them. Nobody can take them from it, and no
// renewal can reach them: what was asked for is made up for when the transaction is undone.
import type { Claim } from "../store.ts";

export class HeldClaims {
  /** By token: for how long the last renewal was to be, null before the first. */
  readonly #leases = new Map<string, number | null>();

  /** False: it is not held, and has to be renewed where it is. */
  noteRenewal({ token }: Claim, leaseMs: number): boolean {
    const isHeld = this.#leases.has(token);
    if (isHeld) this.#leases.set(token, leaseMs);
    return isHeld;
  }

  begin({ token }: Claim): void {
    this.#leases.set(token, null);
  }

  missedRenewal({ token }: Claim): number | null {
    return this.#leases.get(token) ?? null;
  }

  end({ token }: Claim): void {
    this.#leases.delete(token);
  }
}
