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

  /** Removes and returns the first item of the next tenant that is eligible. */
  shift(isEligible: (tenant: Item["tenant"]) => boolean): Item | undefined {
    for (const [tenant, items] of this.#tenants) {
      if (!isEligible(tenant)) continue;
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
