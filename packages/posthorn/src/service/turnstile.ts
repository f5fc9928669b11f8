// Many may pass together, or one alone: claims run side by side, and taking stock of them waits until none is in the
// air, because a claim whose reply is on its way is already in the database and not yet in memory.
export class Turnstile {
  #inside = 0;
  #alone: Promise<void> | undefined;
  #emptied: (() => void) | undefined;

  async pass<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#alone !== undefined) await this.#alone;
    this.#inside += 1;
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) this.#emptied?.();
    }
  }

  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#alone !== undefined) await this.#alone;
    let reopen = (): void => {};
    this.#alone = new Promise((resolve) => {
      reopen = resolve;
    });
    try {
      if (this.#inside > 0) {
        await new Promise<void>((resolve) => {
          this.#emptied = resolve;
        });
      }
      return await work();
    } finally {
      this.#emptied = undefined;
      this.#alone = undefined;
      reopen();
    }
  }
}
