// A worker's life: registered, renewed every second on a connection of its own, heard dead by the others when its
// session goes or its lease ends. Watches the others in turn and buries the dead.
//
//   start ─► alive(id) ──renewed──► alive(id)
//              │  connection lost: reconnect, same id ─► trouble is over: take stock
//              └─ renewal finds no row: buried ─► forget everything ─► alive(new id)
import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import type { Logger } from "../observe/log.ts";
import type { Clock } from "../service/clock.ts";
import { Loop } from "../service/loop.ts";
import { type Database, type DirectConnection, isUnavailable } from "../storage/database.ts";
import { commonChannel, listen, workerChannel } from "../storage/queries/workers/hints.ts";
import { type Reaped, reap, suspectWorkers } from "../storage/queries/workers/reap.ts";
import {
  acquireLivenessLock,
  registerWorker,
  releaseLivenessLocks,
  renewWorker,
} from "../storage/queries/workers/register.ts";

export interface LeaseOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs: number;
  /** False in a process that only ingests. */
  readonly delivers: boolean;
  /** How busy this process has been since it was last asked, from 0 to 1. */
  readonly utilisation: () => number;
  /** This worker was buried while it lived: it holds nothing any more. `reregister` gives it a new id. */
  readonly onReaped: (reregister: () => Promise<void>) => Promise<void>;
  /** Replies may have been lost: what the database says this worker holds must be compared with what it knows. */
  readonly onReconcileDue: () => Promise<void>;
  readonly onWorkerReaped: (burial: Reaped) => void;
  /** `endpoints` is empty for a hint that concerns everything. */
  readonly onHint: (hint: { readonly forAll: boolean; readonly endpoints: readonly string[] }) => void;
}

/** Stock is taken this often without any sign of trouble: one look through the queue, 70 ms at a million rows. */
const reconcileEveryMs = 60_000;
/** Shares of the time in which an event loop works: past the first it is under pressure, below the second it has time. */
const busy = 0.8;
const idle = 0.5;

export class Lease {
  readonly #options: LeaseOptions;
  readonly #loop: Loop;
  readonly #observed = new Map<number, { leaseExpiresMs: number; since: number }>();
  #connection: DirectConnection | undefined;
  #id = 0;
  #renewedAt = Number.NEGATIVE_INFINITY;
  readonly #reconciling: Loop;
  #reconcilePauseMs = reconcileEveryMs;
  #reconcileTimer: NodeJS.Timeout | undefined;
  /** After a reconnect the old session may still hold it for a while: then it is asked for again. */
  #holdsLivenessLock = false;
  #others = 0;
  #utilisation = 0;
  #isAnotherIdle = false;
  #stopped = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#loop = new Loop({
      name: "lease renewal",
      intervalMs: Math.max(50, Math.min(1_000, options.leaseMs / 10)),
      logger: options.logger,
      step: () => this.#heartbeat(),
    });
    // Not in the loop above: it waits for claims in the air, and a renewal must wait for nothing.
    this.#reconciling = new Loop({
      name: "taking stock",
      intervalMs: reconcileEveryMs,
      logger: options.logger,
      step: () => this.#reconcile(),
    });
  }

  get workerId(): number {
    return this.#id;
  }

  /** Other registered workers at the last look. */
  get others(): number {
    return this.#others;
  }

  /** This worker has too much to do, and another one that delivers has time. */
  get isOverloaded(): boolean {
    return this.#utilisation > busy && this.#isAnotherIdle;
  }

  /** Nothing is started on a lease that could end before others may act on its end. */
  get isFresh(): boolean {
    const { leaseMs } = this.#options;
    return performance.now() < this.#renewedAt + leaseMs - Math.min(2_000, leaseMs / 5);
  }

  /** The database took a write within the last few renewals: it is there, and it is not read-only. */
  get isHealthy(): boolean {
    return this.#connection !== undefined && performance.now() - this.#renewedAt < 3_000;
  }

  async start(): Promise<void> {
    await this.#connect();
    await this.#begin();
    await this.#loop.start();
    await this.#reconciling.start();
  }

  /** Buries itself: lanes become free, and what could not be given back is recorded as unknown. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#reconcileTimer);
    await this.#reconciling.stop();
    await this.#loop.stop();
    if (this.#id !== 0) {
      await reap(this.#options.db, { id: this.#id, leaseExpiresMs: null }).catch((error: Error) => {
        this.#options.logger.warn("could not sign off; another worker takes over when the lease ends", {
          error: error.message,
        });
      });
    }
    this.#id = 0;
    await this.#connection?.close();
    this.#connection = undefined;
  }

  /**
   * A claim or its reply was lost: stock is taken as soon as the database answers, and again later, because a
   * statement whose connection was cut may be on its way yet, or wait for a lock, and claims when it gets there.
   */
  reconcileSoon(): void {
    this.#reconcilePauseMs = 1_000;
    this.#reconciling.wake();
    this.#loop.wake();
  }

  /** Renews now; after it, a buried worker has its new life. */
  async check(): Promise<void> {
    await this.#loop.turn();
  }

  async #heartbeat(): Promise<boolean> {
    try {
      if (this.#connection === undefined) await this.#connect();
      await this.#renew();
      if (!this.#holdsLivenessLock) await this.#acquireLivenessLock();
      await this.#reapDead();
      return false;
    } catch (error) {
      // it may lead to a server that is read-only by now, or nowhere: the next try takes a new one
      if (isUnavailable(error)) this.#dropConnection();
      throw error;
    }
  }

  async #reconcile(): Promise<boolean> {
    await this.#options.onReconcileDue();
    clearTimeout(this.#reconcileTimer);
    if (this.#reconcilePauseMs < reconcileEveryMs && !this.#stopped) {
      this.#reconcileTimer = setTimeout(() => this.#reconciling.wake(), this.#reconcilePauseMs);
      this.#reconcilePauseMs *= 2;
    }
    return false;
  }

  #dropConnection(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    void connection?.close();
    this.reconcileSoon();
  }

  async #connect(): Promise<void> {
    const { db, logger } = this.#options;
    const connection = await db.connect();
    this.#connection = connection;
    void connection.lost.then((error) => {
      if (this.#connection !== connection || this.#stopped) return;
      logger.warn("the worker's connection was lost, reconnecting", { error: error.message });
      this.#dropConnection();
    });
    if (!connection.isDirect) {
      logger.info("a connection pooler stands before the database: polling only, takeover after the lease");
    }
    connection.onNotification((channel, payload) => {
      this.#options.onHint({
        forAll: channel === commonChannel(db.schema),
        endpoints: payload === "" ? [] : payload.split(","),
      });
    });
    if (this.#id !== 0) await this.#claimSession();
  }

  async #begin(): Promise<void> {
    const { db, clock, leaseMs } = this.#options;
    const connection = this.#connection as DirectConnection;
    const asked = performance.now();
    const { id, nowMs } = await registerWorker(db, {
      name: `${hostname()}:${process.pid}`,
      leaseMs,
      holdsLivenessLock: connection.isDirect,
      delivers: this.#options.delivers,
    });
    clock.follow(nowMs, asked, performance.now());
    this.#id = id;
    this.#renewedAt = asked;
    await this.#claimSession();
  }

  async #claimSession(): Promise<void> {
    const connection = this.#connection as DirectConnection;
    const { schema } = this.#options.db;
    this.#holdsLivenessLock = false;
    await this.#acquireLivenessLock();
    if (!connection.isDirect) return;
    await listen(connection, [commonChannel(schema), workerChannel(schema, this.#id)]);
  }

  async #acquireLivenessLock(): Promise<void> {
    const connection = this.#connection as DirectConnection;
    this.#holdsLivenessLock =
      !connection.isDirect || (await acquireLivenessLock(connection, this.#id, this.#options.db.schema));
  }

  async #renew(): Promise<void> {
    const { clock, leaseMs, logger, onReaped } = this.#options;
    const connection = this.#connection as DirectConnection;
    const asked = performance.now();
    this.#utilisation = this.#options.utilisation();
    const databaseMs = await renewWorker(connection, this.#id, leaseMs, this.#utilisation);
    if (databaseMs !== null) {
      this.#renewedAt = asked;
      clock.follow(databaseMs, asked, performance.now());
      return;
    }
    logger.warn("this worker was taken for dead and buried; it goes on under a new id", {
      workerId: this.#id,
    });
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    await onReaped(async () => {
      if (connection.isDirect) await releaseLivenessLocks(connection);
      await this.#begin();
    });
  }

  async #reapDead(): Promise<void> {
    const { db, leaseMs, logger, onWorkerReaped } = this.#options;
    const lateMs = leaseMs - Math.min(2_000, leaseMs / 2);
    const seen = await suspectWorkers(this.#connection as DirectConnection, this.#id, db.schema, lateMs);
    this.#others = seen.length;
    this.#isAnotherIdle = seen.some(
      (other) => other.delivers && !other.leaseEnded && other.utilisation < idle,
    );
    const now = performance.now();
    for (const id of this.#observed.keys())
      if (!seen.some((other) => other.id === id)) this.#observed.delete(id);
    for (const other of seen) {
      const before = this.#observed.get(other.id);
      const since = before?.leaseExpiresMs === other.leaseExpiresMs ? before.since : now;
      this.#observed.set(other.id, { leaseExpiresMs: other.leaseExpiresMs, since });
      // A step of the database's clock ends every lease at once; only standing still on our own clock proves a death.
      const stoodStill = now - since >= leaseMs;
      if (!other.sessionGone && !(other.leaseEnded && stoodStill)) continue;
      const burial = await reap(db, other);
      if (burial === null) continue;
      logger.warn("buried a dead worker; its deliveries are owed again", { ...burial });
      onWorkerReaped(burial);
    }
  }
}
