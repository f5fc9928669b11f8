// Handlers' transactions wait in line rather than for the pool's last connection. A handler that queries the pool beside
// its transaction needs one, and so do claims, renewals and duplicates: where every connection is a handler's, and every
// handler waits for another, all of them wait for ever.

/** By then most senders have given up on the answer. */
const MAX_WAIT_MS = 10_000;

export class TransactionLimit {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Rejects when its turn does not come in time, so that the sender is told to come again. */
  async run<Result>(act: () => Promise<Result>): Promise<Result> {
    return await this.#run(MAX_WAIT_MS, act);
  }

  /** However long its turn takes: for those who hold a lease, and are as many as the inbox has hands. */
  async runWithoutTimeout<Result>(act: () => Promise<Result>): Promise<Result> {
    return await this.#run(null, act);
  }

  async #run<Result>(maxWaitMs: number | null, act: () => Promise<Result>): Promise<Result> {
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

  /** Resolves in the place of one that ended. */
  #turn(maxWaitMs: number | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        this.#waiting.delete(begin);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(begin);
        reject(
          new Error(
            `All ${this.#most} transactions were at work for ${maxWaitMs} ms. Give the pool more connections, or raise maxTransactions.`,
          ),
        );
      };
      const timer = maxWaitMs === null ? undefined : setTimeout(giveUp, maxWaitMs);
      this.#waiting.add(begin);
    });
  }
}
