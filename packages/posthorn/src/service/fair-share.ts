// How tenants share a capacity: the share that each may use, and the order in which they take turns.
const TIMES_FREE = 4;

/**
 * How much of a shared capacity each tenant may use: at most four times what is free. One tenant alone gets four fifths,
 * two get four ninths each (the dynamic threshold of shared-memory switches). The last unit is reserved for a tenant that
 * has none.
 */
export class TenantShares {
  readonly #capacity: number;
  readonly #spare: number;
  readonly #used = new Map<string | null, number>();
  #total = 0;

  /** Large amounts may exceed the capacity; `spare` is reserved for tenants that hold nothing then. */
  constructor(capacity: number, spare = 0) {
    this.#capacity = capacity;
    this.#spare = spare;
  }

  get total(): number {
    return this.#total;
  }

  get free(): number {
    return this.#capacity - this.#total;
  }

  get isFull(): boolean {
    return this.free <= 0;
  }

  /** `tenant` null is the operator. */
  mayTake(tenant: string | null): boolean {
    const used = this.#used.get(tenant) ?? 0;
    const { free } = this;
    return used === 0 ? free + this.#spare > 0 : free > 1 && used < TIMES_FREE * free;
  }

  take(tenant: string | null, amount: number): void {
    this.#total += amount;
    this.#used.set(tenant, (this.#used.get(tenant) ?? 0) + amount);
  }

  release(tenant: string | null, amount: number): void {
    const left = (this.#used.get(tenant) ?? 0) - amount;
    this.#total -= amount;
    if (left > 0) this.#used.set(tenant, left);
    else this.#used.delete(tenant);
  }

  clear(): void {
    this.#used.clear();
    this.#total = 0;
  }
}

export interface QueuedItem {
  /** Null: the operator. */
  readonly tenant: string | null;
}

/** A round-robin queue over tenants: the number of items a tenant has queued does not delay other tenants. */
export class FairQueue<Item extends QueuedItem> {
  /** In the order of their turns; a served tenant moves to the end. */
  readonly #tenants = new Map<Item["tenant"], Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: Item): void {
    const items = this.#tenants.get(item.tenant);
    if (items === undefined) this.#tenants.set(item.tenant, new Set([item]));
    else if (items.has(item)) return;
    else items.add(item);
    this.#size += 1;
  }

  delete(item: Item): void {
    const items = this.#tenants.get(item.tenant);
    if (items === undefined || !items.delete(item)) return;
    this.#size -= 1;
    if (items.size === 0) this.#tenants.delete(item.tenant);
  }

  /** Removes and returns the first item of the next tenant that may take from the shares. */
  shift(shares: Pick<TenantShares, "mayTake">): Item | undefined {
    for (const [tenant, items] of this.#tenants) {
      if (!shares.mayTake(tenant)) continue;
      const item = items.values().next().value as Item;
      items.delete(item);
      this.#size -= 1;
      this.#tenants.delete(tenant);
      if (items.size > 0) this.#tenants.set(tenant, items);
      return item;
    }
    return undefined;
  }
}
