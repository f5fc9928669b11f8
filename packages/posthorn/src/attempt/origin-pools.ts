// Connections kept for the next request: one pool per tenant and origin, so that no tenant sends or receives on a
// connection that another tenant's endpoint could have influenced. Unused and old pools are closed.
import { Pool } from "undici";
import type { CheckedNames } from "./guard/checked-names.ts";
import type { AddressPolicy } from "./guard/guard-address.ts";
import { type ConnectTiming, createGuardedConnector, newConnectTiming } from "./guard/guarded-connector.ts";

export interface OriginPoolsOptions {
  readonly policy: AddressPolicy;
  readonly names: CheckedNames;
  readonly connectionsPerOrigin: number;
  readonly extraCa?: readonly string[] | undefined;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly maxPools?: number;
}

/** The connections of one tenant to one origin. */
export interface OriginPool {
  readonly key: string;
  readonly pool: Pool;
  readonly openedAt: number;
  /** Requests that have no connection yet. */
  waiting: number;
  /** Requests whose outcome is not known yet, including those waiting for a connection. */
  inFlight: number;
  connections: number;
  /** When the last request ended. */
  usedAt: number;
  /** Timing of the newest connection. */
  readonly connectTiming: ConnectTiming;
}

/** Addresses are resolved and checked when a connection is opened, so no pool is used for longer than this. */
const MAX_POOL_AGE_MS = 300_000;

export class OriginPools {
  readonly #options: OriginPoolsOptions;
  readonly #maxPools: number;
  readonly #pools = new Map<string, OriginPool>();
  /** Pools that are no longer used and have a request in flight. */
  readonly #retired = new Set<OriginPool>();

  constructor(options: OriginPoolsOptions) {
    this.#options = options;
    this.#maxPools = options.maxPools ?? 1_000;
  }

  get size(): number {
    return this.#pools.size + this.#retired.size;
  }

  /** Returns the pool for one request, until it is released. A null `tenant` is the operator. */
  take(tenant: string | null, origin: string): OriginPool {
    // An origin contains no space.
    const key = tenant === null ? origin : `${origin} ${tenant}`;
    const entry = this.#poolFor(key, tenant, origin);
    entry.inFlight += 1;
    return entry;
  }

  /** A request to this pool has its outcome. */
  release(pool: OriginPool): void {
    pool.inFlight -= 1;
    pool.usedAt = this.#options.now();
    this.#closeUnused(pool);
  }

  async close(): Promise<void> {
    const all = [...this.#pools.values(), ...this.#retired];
    this.#pools.clear();
    this.#retired.clear();
    await Promise.all(all.map(({ pool }) => pool.destroy()));
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
    const { now, policy, names, extraCa, connectionsPerOrigin } = this.#options;
    const isWanted = (): boolean => entry.waiting > 0;
    const connectTiming = newConnectTiming();
    const pool = new Pool(origin, {
      ...SETTINGS,
      connections: connectionsPerOrigin,
      connect: createGuardedConnector({ policy, names, tenant, extraCa, isWanted, connectTiming }),
    });
    const entry: OriginPool = {
      key,
      pool,
      openedAt: now(),
      waiting: 0,
      inFlight: 0,
      connections: 0,
      usedAt: now(),
      connectTiming,
    };
    pool.on("connect", () => {
      entry.connections += 1;
    });
    pool.on("disconnect", () => {
      entry.connections -= 1;
      this.#closeUnused(entry);
    });
    pool.on("connectionError", () => this.#closeUnused(entry));
    this.#pools.set(key, entry);
    return entry;
  }

  #closeUnused(entry: OriginPool): void {
    if (entry.inFlight > 0) return;
    if (this.#retired.delete(entry)) destroySoon(entry);
    else if (entry.connections === 0 && this.#pools.get(entry.key) === entry) this.#retire(entry);
  }

  /** If every pool is in use, none is closed: then the number of attempts in flight is the limit. */
  #closeLongestIdle(): void {
    const idle = [...this.#pools.values()].filter(({ inFlight }) => inFlight === 0);
    idle.sort((a, b) => a.usedAt - b.usedAt);
    // A tenth at once, so that sorting happens once per hundred new origins.
    for (const entry of idle.slice(0, Math.ceil(this.#maxPools / 10))) this.#retire(entry);
  }

  #retire(entry: OriginPool): void {
    this.#pools.delete(entry.key);
    if (entry.inFlight > 0) this.#retired.add(entry);
    else destroySoon(entry);
  }
}

/** Not at once: undici may be calling back. */
function destroySoon({ pool }: OriginPool): void {
  queueMicrotask(() => void pool.destroy());
}

const SETTINGS: Pool.Options = {
  pipelining: 1,
  // Node's servers close an idle connection after 5 s. A request that crosses the closing is lost, and a POST is not
  // repeated outside the schedule. So this side closes first: after 4 s, or 1 s before the server's hint.
  keepAliveTimeout: 4_000,
  keepAliveTimeoutThreshold: 1_000,
  keepAliveMaxTimeout: 30_000,
  // The limit of nginx. A header of one letter takes 200 bytes here, so 8 KB of them take 1.8 MB.
  maxHeaderSize: 8 * 1024,
  // The attempt's own deadline covers all phases; undici's timers per phase stop neither a drip nor a flood of 1xx.
  headersTimeout: 0,
  bodyTimeout: 0,
  allowH2: false,
};
