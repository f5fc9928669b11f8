/**
 * A lock that many hold together or one holds alone. Claims hold it together. Recovering lost claims needs it alone: a
 * claim whose reply is on its way is already in the database and not yet in memory.
 */
export class SharedLock {
  #holders = 0;
  #exclusive: Promise<void> | undefined;
  #onNoHolders: (() => void) | undefined;

  /** Holds it together with others until `end`. */
  async begin(): Promise<void> {
    while (this.#exclusive !== undefined) await this.#exclusive;
    this.#holders += 1;
  }

  end(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#onNoHolders?.();
  }

  async shared<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.begin();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  async exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#exclusive !== undefined) await this.#exclusive;
    let unlock = (): void => {};
    this.#exclusive = new Promise((resolve) => {
      unlock = resolve;
    });
    try {
      if (this.#holders > 0) {
        await new Promise<void>((resolve) => {
          this.#onNoHolders = resolve;
        });
      }
      return await work();
    } finally {
      this.#onNoHolders = undefined;
      this.#exclusive = undefined;
      unlock();
    }
  }
}
