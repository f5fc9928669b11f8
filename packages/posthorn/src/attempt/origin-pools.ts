// Connections kept for the next request: one pool per tenant and origin, so that no tenant sends or receives on a
// connection that another tenant's endpoint could have influenced. Unused and old pools are closed.
import type { CheckedNames } from "./guard/checked-names.ts";
import type { AddressPolicy } from "./guard/guard-address.ts";
import { GuardedConnector, TlsTrust } from "./guard/guarded-connector.ts";
import { OriginPool } from "./origin-pool.ts";

export interface OriginPoolsOptions {
  readonly policy: AddressPolicy;
  readonly names: CheckedNames;
  readonly connectionsPerOrigin: number;
  readonly extraCa?: readonly string[] | undefined;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly maxPools?: number;
}

/** Addresses are resolved and checked when a connection is opened, so no pool is used for longer than this. */
const MAX_POOL_AGE_MS = 300_000;

export class OriginPools {
  readonly #options: OriginPoolsOptions;
  readonly #tlsTrust: TlsTrust;
  readonly #maxPools: number;
  readonly #pools = new Map<string, OriginPool>();
  /** Pools that are no longer used and have a request in flight. */
  readonly #retired = new Set<OriginPool>();

  constructor(options: OriginPoolsOptions) {
    this.#options = options;
    this.#tlsTrust = new TlsTrust(options.extraCa);
    this.#maxPools = options.maxPools ?? 1_000;
  }

  get size(): number {
    return this.#pools.size + this.#retired.size;
  }

  /** Returns the pool for one request, which ends with `release`. A null `tenant` is the operator. */
  acquire(tenant: string | null, origin: string): OriginPool {
    // An origin contains no space.
    const key = tenant === null ? origin : `${origin} ${tenant}`;
    const pool = this.#poolFor(key, tenant, origin);
    pool.inFlight += 1;
    return pool;
  }

  /** A request to this pool has its outcome. */
  release(pool: OriginPool): void {
    pool.inFlight -= 1;
    pool.usedAt = this.#options.now();
    this.#closeUnused(pool);
  }

  /** Closes all connections. Call it only while no request is in flight. */
  close(): void {
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
  }

  #poolFor(key: string, tenant: string | null, origin: string): OriginPool {
    const known = this.#pools.get(key);
    if (known !== undefined) {
      if (this.#options.now() - known.openedAt < MAX_POOL_AGE_MS) return known;
      this.#retire(known);
    }
    if (this.#pools.size >= this.#maxPools) this.#closeLongestIdle();
    return this.#open(key, tenant, origin);
  }

  #open(key: string, tenant: string | null, origin: string): OriginPool {
    const { now, policy, names, connectionsPerOrigin } = this.#options;
    const pool = new OriginPool({
      key,
      connector: new GuardedConnector({ policy, names, tenant, origin, tlsTrust: this.#tlsTrust }),
      maxConnections: connectionsPerOrigin,
      openedAt: now(),
      onClosed: (unused) => this.#closeUnused(unused),
    });
    this.#pools.set(key, pool);
    return pool;
  }

  #closeUnused(pool: OriginPool): void {
    if (pool.inFlight > 0) return;
    this.#retired.delete(pool);
    if (pool.connections === 0 && this.#pools.get(pool.key) === pool) this.#pools.delete(pool.key);
  }

  /** If every pool is in use, none is closed: then the number of attempts in flight is the limit. */
  #closeLongestIdle(): void {
    const idle = [...this.#pools.values()].filter(({ inFlight }) => inFlight === 0);
    idle.sort((a, b) => a.usedAt - b.usedAt);
    // A tenth at once, so that sorting happens once per hundred new origins.
    for (const pool of idle.slice(0, Math.ceil(this.#maxPools / 10))) this.#retire(pool);
  }

  #retire(pool: OriginPool): void {
    this.#pools.delete(pool.key);
    if (pool.inFlight > 0) this.#retired.add(pool);
    pool.close();
  }
}
