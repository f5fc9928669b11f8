// So many at a time. Tenants take turns, and one that asks for much leaves places free for the others: what never ends
// holds up its own tenant.
import { FairLine, type Waiting } from "./fair-line.ts";
import { TenantShares } from "./tenant-shares.ts";

interface Turn extends Waiting {
  readonly begin: () => void;
}

export class TenantTurns {
  readonly #places: TenantShares;
  readonly #line = new FairLine<Turn>();

  constructor(count: number) {
    this.#places = new TenantShares(count);
  }

  /** `tenant` null is the operator. Work that nobody waits for any more is not begun, and rejects. */
  async take<Result>(
    tenant: string | null,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    await new Promise<void>((begin) => {
      this.#line.add({ tenant, begin });
      this.#next();
    });
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#places.giveBack(tenant, 1);
      this.#next();
    }
  }

  #next(): void {
    let turn = this.#line.shift((tenant) => this.#places.mayTake(tenant));
    while (turn !== undefined) {
      this.#places.take(turn.tenant, 1);
      turn.begin();
      turn = this.#line.shift((tenant) => this.#places.mayTake(tenant));
    }
  }
}
