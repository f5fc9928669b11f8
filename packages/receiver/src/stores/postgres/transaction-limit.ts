// Limits handlers' transactions to fewer than the pool's connections. A handler that uses the pool beside its transaction
// needs another connection, and so do claims, renewals and duplicates: if handlers held all connections and waited for
// more, they would wait forever.

/** By then most senders have stopped waiting for the response. */
const MAX_WAIT_MS = 10_000;

export class TransactionLimit {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Rejects if there is no free slot in time, so that the sender retries. Null waits without a limit: for owners of a lease, whose
   * number the inbox limits.
   */
  async run<Result>(act: () => Promise<Result>, maxWaitMs: number | null = MAX_WAIT_MS): Promise<Result> {
    if (this.#running < this.#most) this.#running += 1;
    else await this.#turn(maxWaitMs);
    try {
      return await act();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** Resolves when a slot is free. */
  #turn(maxWaitMs: number | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        this.#waiting.delete(begin);
        resolve();
      };
      const rejectLate = () => {
        this.#waiting.delete(begin);
        reject(
          new Error(
            `All ${this.#most} transactions were in use for ${maxWaitMs} ms. Increase the pool size, or raise maxTransactions.`,
          ),
        );
      };
      const timer = maxWaitMs === null ? undefined : setTimeout(rejectLate, maxWaitMs);
      this.#waiting.add(begin);
    });
  }
}
