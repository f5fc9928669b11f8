// A line in which tenants take turns, and within a tenant its lanes: a tenant with a thousand lanes waits as long as
// one with a single lane.
import type { Lane } from "./lane.ts";

export class FairLine {
  /** In the order of their turns; a tenant that had its turn goes to the end. */
  readonly #tenants = new Map<string, Set<Lane>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(lane: Lane): boolean {
    return this.#tenants.get(lane.target.tenant)?.has(lane) ?? false;
  }

  add(lane: Lane): void {
    const { tenant } = lane.target;
    const lanes = this.#tenants.get(tenant);
    if (lanes === undefined) this.#tenants.set(tenant, new Set([lane]));
    else if (lanes.has(lane)) return;
    else lanes.add(lane);
    this.#size += 1;
  }

  delete(lane: Lane): void {
    const { tenant } = lane.target;
    const lanes = this.#tenants.get(tenant);
    if (lanes === undefined || !lanes.delete(lane)) return;
    this.#size -= 1;
    if (lanes.size === 0) this.#tenants.delete(tenant);
  }

  clear(): void {
    this.#tenants.clear();
    this.#size = 0;
  }

  /** The next lane of the next tenant that may have a turn, out of the line. */
  shift(mayHaveTurn: (tenant: string) => boolean): Lane | undefined {
    for (const [tenant, lanes] of this.#tenants) {
      if (!mayHaveTurn(tenant)) continue;
      const lane = lanes.values().next().value as Lane;
      lanes.delete(lane);
      this.#size -= 1;
      this.#tenants.delete(tenant);
      if (lanes.size > 0) this.#tenants.set(tenant, lanes);
      return lane;
    }
    return undefined;
  }
}
