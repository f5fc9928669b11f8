import { Loop, type LoopOptions } from "./loop.ts";

export interface ClaimLoopOptions<Item> extends Omit<LoopOptions, "step"> {
  readonly maxInFlight: number;
  readonly batchSize: number;
  readonly claim: (limit: number) => Promise<readonly Item[]>;
  /** Never rejects. */
  readonly work: (item: Item) => Promise<void>;
}

/** A loop that claims and processes items with bounded concurrency; an item that takes long delays no other. */
export class ClaimLoop<Item> extends Loop {
  readonly #options: ClaimLoopOptions<Item>;
  readonly #running = new Set<Promise<void>>();

  constructor(options: ClaimLoopOptions<Item>) {
    super({ ...options, step: () => this.#begin() });
    this.#options = options;
  }

  /** Also waits for the items in flight. */
  override async stop(): Promise<void> {
    await super.stop();
    await this.#drain();
  }

  /** Also waits for the items in flight. */
  override async runNow(): Promise<void> {
    await super.runNow();
    await this.#drain();
  }

  /** Starts due items up to the limits. Returns whether there may be more. */
  async #begin(): Promise<boolean> {
    const { maxInFlight, batchSize, claim, work } = this.#options;
    const limit = Math.min(batchSize, maxInFlight - this.#running.size);
    if (limit === 0) return false;
    const items = await claim(limit);
    for (const item of items) {
      const running = work(item).finally(() => {
        const wasFull = this.#running.size >= maxInFlight;
        this.#running.delete(running);
        if (wasFull) this.wake();
      });
      this.#running.add(running);
    }
    return items.length === limit;
  }

  async #drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
