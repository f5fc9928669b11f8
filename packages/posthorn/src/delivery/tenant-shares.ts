// How much of this worker a tenant may take. A tenant may hold four times what is free: one alone gets four fifths, two
// get four ninths each, and whoever comes next always finds a place (the dynamic threshold of shared-memory switches).

const TIMES_FREE = 4;

export class TenantShares {
  readonly #capacity: number;
  readonly #spare: number;
  readonly #used = new Map<string, number>();
  #total = 0;

  /** What is taken in large pieces is overdrawn at times; `spare` is then for tenants that hold nothing. */
  constructor(capacity: number, spare = 0) {
    this.#capacity = capacity;
    this.#spare = spare;
  }

  get total(): number {
    return this.#total;
  }

  get isFull(): boolean {
    return this.#total >= this.#capacity;
  }

  mayTake(tenant: string): boolean {
    const used = this.#used.get(tenant) ?? 0;
    const free = this.#capacity - this.#total;
    return used < TIMES_FREE * free || (used === 0 && free + this.#spare > 0);
  }

  take(tenant: string, amount: number): void {
    this.#total += amount;
    this.#used.set(tenant, (this.#used.get(tenant) ?? 0) + amount);
  }

  giveBack(tenant: string, amount: number): void {
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
