import { FairQueue, type QueuedItem, TenantShares } from "./fair-share.ts";

interface Waiter extends QueuedItem {
  readonly begin: () => void;
}

/** Runs at most `count` pieces of work at a time. Tenants take turns, and none uses all of them: see TenantShares. */
export class TenantSemaphore {
  readonly #shares: TenantShares;
  readonly #queue = new FairQueue<Waiter>();

  constructor(count: number) {
    this.#shares = new TenantShares(count);
  }

  /** Rejects without starting the work if the signal is aborted by then. `tenant` null is the operator. */
  async run<Result>(
    tenant: string | null,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    await new Promise<void>((begin) => {
      this.#queue.add({ tenant, begin });
      this.#startNext();
    });
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#shares.release(tenant, 1);
      this.#startNext();
    }
  }

  #startNext(): void {
    for (;;) {
      const waiter = this.#queue.shift(this.#shares);
      if (waiter === undefined) return;
      this.#shares.take(waiter.tenant, 1);
      waiter.begin();
    }
  }
}
