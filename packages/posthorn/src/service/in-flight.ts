export interface InFlightOptions<Item> {
  readonly maxInFlight: number;
  readonly batchSize: number;
  readonly claim: (limit: number) => Promise<readonly Item[]>;
  /** Never rejects. */
  readonly work: (item: Item) => Promise<void>;
}

/** Claims and processes items with bounded concurrency; an item that takes long delays no other. */
export class InFlight<Item> {
  readonly #options: InFlightOptions<Item>;
  readonly #running = new Set<Promise<void>>();
  /** Called when capacity becomes available after none was left. */
  onFree: () => void = () => {};

  constructor(options: InFlightOptions<Item>) {
    this.#options = options;
  }

  /** Starts due items up to the limits. Returns whether there may be more. */
  async begin(): Promise<boolean> {
    const { maxInFlight, batchSize, claim, work } = this.#options;
    const limit = Math.min(batchSize, maxInFlight - this.#running.size);
    if (limit === 0) return false;
    const items = await claim(limit);
    for (const item of items) {
      const running = work(item).finally(() => {
        const wasFull = this.#running.size >= maxInFlight;
        this.#running.delete(running);
        if (wasFull) this.onFree();
      });
      this.#running.add(running);
    }
    return items.length === limit;
  }

  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
