// Connections kept for the next request: one pool per tenant and origin, so that no tenant ever sends, or is answered, on
// a connection that another one's endpoint had a hand in. What is not used goes by itself, and nothing gets old.
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
  /** Requests whose outcome is not known yet, those that wait included. */
  inFlight: number;
  connections: number;
  /** When the last request ended. */
  usedAt: number;
  /** What its newest connection took. */
  readonly connectTiming: ConnectTiming;
}

/** An address is asked for and checked when a connection is opened, so none is used for longer than this. */
const MAX_POOL_AGE_MS = 300_000;

export class OriginPools {
  readonly #options: OriginPoolsOptions;
  readonly #maxPools: number;
  readonly #pools = new Map<string, OriginPool>();
  /** Out of use, and not yet closed: a request is still in flight there. */
  readonly #retired = new Set<OriginPool>();

  constructor(options: OriginPoolsOptions) {
    this.#options = options;
    this.#maxPools = options.maxPools ?? 1_000;
  }

  get size(): number {
    return this.#pools.size + this.#retired.size;
  }

  /** For one request, until it is released. `tenant` null is the operator. */
  take(tenant: string | null, origin: string): OriginPool {
    // An origin has no space in it.
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

  /** When everything is in use there is nothing to close: then the number of attempts in flight is the limit. */
  #closeLongestIdle(): void {
    const idle = [...this.#pools.values()].filter(({ inFlight }) => inFlight === 0);
    idle.sort((a, b) => a.usedAt - b.usedAt);
    // A tenth at once, so that the sorting is paid for once in a hundred new origins.
    for (const entry of idle.slice(0, Math.ceil(this.#maxPools / 10))) this.#retire(entry);
  }

  #retire(entry: OriginPool): void {
    this.#pools.delete(entry.key);
    if (entry.inFlight > 0) this.#retired.add(entry);
    else destroySoon(entry);
  }
}

/** Not at once: undici may be in the middle of telling us why. */
function destroySoon({ pool }: OriginPool): void {
  queueMicrotask(() => void pool.destroy());
}

const SETTINGS: Pool.Options = {
  pipelining: 1,
  // Node's servers close an idle connection after 5 s. A request that crosses the closing is lost and, being a
  // POST, is not sent again behind the schedule's back, so leave first: 4 s, or 1 s less than the server's hint.
  keepAliveTimeout: 4_000,
  keepAliveTimeoutThreshold: 1_000,
  keepAliveMaxTimeout: 30_000,
  // As nginx takes them. A header of one letter costs 200 bytes here, so 8 KB of them held back cost 1.8 MB.
  maxHeaderSize: 8 * 1024,
  // The attempt's own deadline covers all phases; undici's per-phase timers stop neither a drip nor a 1xx flood.
  headersTimeout: 0,
  bodyTimeout: 0,
  allowH2: false,
};
