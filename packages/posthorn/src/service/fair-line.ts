// A line in which tenants take turns, and within a tenant its items: a tenant with a thousand of them waits as long as
// one with a single one.
export interface Waiting {
  /** Null: the operator. */
  readonly tenant: string | null;
}

export class FairLine<Item extends Waiting> {
  /** In the order of their turns; a tenant that had its turn goes to the end. */
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

  /** The next item of the next tenant that may have a turn, out of the line. */
  shift(mayHaveTurn: (tenant: Item["tenant"]) => boolean): Item | undefined {
    for (const [tenant, items] of this.#tenants) {
      if (!mayHaveTurn(tenant)) continue;
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
