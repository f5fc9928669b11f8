// Connections kept for the next request: one pool per tenant and origin, so that no tenant sends or receives on a
// connection that another tenant's endpoint could have influenced. Unused and old pools are closed.
import type { AttemptHandler } from "./attempt-handler.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import type { CheckedNames } from "./guard/checked-names.ts";
import type { AddressPolicy } from "./guard/guard-address.ts";
import { GuardedConnector, TlsTrust } from "./guard/guarded-connector.ts";

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
  /** Requests sent or waiting for a connection whose outcome is not known yet. */
  #inFlight = 0;
  #onIdle: (() => void) | null = null;

  constructor(options: OriginPoolsOptions) {
    this.#options = options;
    this.#tlsTrust = new TlsTrust(options.extraCa);
    this.#maxPools = options.maxPools ?? 1_000;
  }

  get size(): number {
    return this.#pools.size + this.#retired.size;
  }

  /** Returns the pool for one request, which ends with the pool's `release`. A null `tenant` is the operator. */
  acquire(tenant: string | null, origin: string): OriginPool {
    // An origin contains no space.
    const key = tenant === null ? origin : `${origin} ${tenant}`;
    const pool = this.#poolFor(key, tenant, origin);
    pool.inFlight += 1;
    this.#inFlight += 1;
    return pool;
  }

  /** Called by a pool of which a request has its outcome. */
  released(pool: OriginPool): void {
    pool.usedAt = this.#options.now();
    this.closeUnused(pool);
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
  }

  /** Waits for the requests in flight, each of which has a deadline, and closes every connection. */
  async close(): Promise<void> {
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
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
      pools: this,
    });
    this.#pools.set(key, pool);
    return pool;
  }

  /** Removes a pool without connections or requests. */
  closeUnused(pool: OriginPool): void {
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

interface OriginPoolOptions {
  readonly key: string;
  readonly connector: GuardedConnector;
  readonly maxConnections: number;
  readonly openedAt: number;
  readonly pools: OriginPools;
}

/** The connections of one tenant to one origin, and the requests that wait for one. */
export class OriginPool implements ConnectionOwner {
  readonly key: string;
  readonly openedAt: number;
  /** Requests whose outcome is not known yet, including those waiting for a connection. */
  inFlight = 0;
  /** The time at which the last request ended. */
  usedAt: number;
  readonly #connector: GuardedConnector;
  readonly #maxConnections: number;
  readonly #pools: OriginPools;
  readonly #connections = new Set<Connection>();
  /** The most recently used connection is last and is reused first, so that the others are closed as idle. */
  readonly #idle: Connection[] = [];
  /** In order of arrival. */
  readonly #waiting = new Set<AttemptHandler>();
  #isClosing = false;

  constructor({ key, connector, maxConnections, openedAt, pools }: OriginPoolOptions) {
    this.key = key;
    this.#connector = connector;
    this.#maxConnections = maxConnections;
    this.openedAt = openedAt;
    this.usedAt = openedAt;
    this.#pools = pools;
  }

  get connections(): number {
    return this.#connections.size;
  }

  send(attempt: AttemptHandler): void {
    const idle = this.#idle.pop();
    if (idle?.isUsable) idle.send(attempt);
    else if (idle !== undefined) {
      idle.close();
      this.send(attempt);
    } else if (this.#connections.size < this.#maxConnections) this.#open(attempt);
    else this.#waiting.add(attempt);
  }

  /** A request to this pool has its outcome. */
  release(): void {
    this.inFlight -= 1;
    this.#pools.released(this);
  }

  /** The request ended while it waited for a connection. */
  withdraw(attempt: AttemptHandler): void {
    this.#waiting.delete(attempt);
  }

  /** Closes idle connections now, and the others after their response. */
  close(): void {
    this.#isClosing = true;
    for (const connection of [...this.#connections]) connection.closeIfIdle();
  }

  onFree(connection: Connection): void {
    const next = this.#nextWaiting();
    if (next !== null) connection.send(next);
    else if (this.#isClosing) connection.close();
    else this.#idle.push(connection);
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    const next = this.#nextWaiting();
    if (next === null) this.#pools.closeUnused(this);
    else this.#open(next);
  }

  #open(attempt: AttemptHandler): void {
    const connection = new Connection(this, this.#connector, attempt);
    this.#connections.add(connection);
    connection.open();
  }

  #nextWaiting(): AttemptHandler | null {
    for (const attempt of this.#waiting) {
      this.#waiting.delete(attempt);
      return attempt;
    }
    return null;
  }
}
