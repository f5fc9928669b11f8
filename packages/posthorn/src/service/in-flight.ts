// Work that waits for strangers, so much at a time: whoever does not answer takes one place, and holds up nobody else.
export interface InFlightOptions<Item> {
  readonly most: number;
  /** How many are taken at once. */
  readonly atOnce: number;
  readonly claim: (limit: number) => Promise<readonly Item[]>;
  /** Never rejects. */
  readonly work: (item: Item) => Promise<void>;
}

export class InFlight<Item> {
  readonly #options: InFlightOptions<Item>;
  readonly #running = new Set<Promise<void>>();
  /** A place became free while there was none: there may be more to do. */
  onFree: () => void = () => {};

  constructor(options: InFlightOptions<Item>) {
    this.#options = options;
  }

  /** Begins what is due, as far as there are places; true: there may be more. */
  async begin(): Promise<boolean> {
    const { most, atOnce, claim, work } = this.#options;
    const limit = Math.min(atOnce, most - this.#running.size);
    if (limit === 0) return false;
    const items = await claim(limit);
    for (const item of items) {
      const running = work(item).finally(() => {
        const wasFull = this.#running.size >= most;
        this.#running.delete(running);
        if (wasFull) this.onFree();
      });
      this.#running.add(running);
    }
    return items.length === limit;
  }

  async quiet(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
