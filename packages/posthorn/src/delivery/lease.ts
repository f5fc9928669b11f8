// The lease of a worker: registered, renewed every second on its own connection, and reaped by the other workers when
// its session has ended or its lease has expired. It watches the others in turn.
//
//   start ─► alive(id) ──renewed──► alive(id)
//              │  connection lost: reconnect with the same id ─► reconcile
//              └─ renewal finds no row: reaped ─► lose everything ─► alive(new id)
import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import type { Logger } from "../observe/log.ts";
import type { Clock } from "../service/clock.ts";
import { Loop } from "../service/loop.ts";
import { type Database, type DirectConnection, isUnavailable } from "../storage/database.ts";
import { commonChannel, LOST, listen, OUTBOX, workerChannel } from "../storage/queries/workers/hints.ts";
import { type OtherWorker, otherWorkers, reap } from "../storage/queries/workers/reap.ts";
import {
  acquireLivenessLock,
  registerWorker,
  releaseLivenessLocks,
  renewWorker,
} from "../storage/queries/workers/register.ts";
import { LaneBalance } from "./lane-balance.ts";

export interface LeaseOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs: number;
  /** False in a process that only ingests. */
  readonly delivers: boolean;
  /** Returns the share of time, from 0 to 1, in which the event loop was busy since the last call. */
  readonly utilisation: () => number;
  readonly holder: LeaseHolder;
}

/** The worker whose lease it is. */
export interface LeaseHolder {
  /** This worker was reaped while it was running and no longer owns anything. `reregister` gets it a new id. */
  reaped(reregister: () => Promise<void>): Promise<void>;
  /** The connection to the database was lost. After a failover, its last commits may be missing. */
  connectionLost(): void;
  /** Replies may have been lost: the claims in the database have to be compared with memory. */
  reconcile(): Promise<void>;
  anotherWasReaped(): void;
  /** Called with every heartbeat. */
  othersSeen(others: readonly OtherWorker[]): void;
  readonly laneCount: number;
  /** The Unix socket on which it receives deliveries. */
  readonly socket: string | null;
  /** Called with every heartbeat; see `claims_since` of a worker. */
  claimsSince(): string;
  hinted(hint: Hint): void;
}

/** `endpoints` is empty if the hint concerns all lanes. */
export interface Hint {
  /** A publisher committed an event in the outbox. */
  readonly isOutbox: boolean;
  readonly forAll: boolean;
  /** Deliveries claimed by this worker did not reach it. */
  readonly isLost: boolean;
  readonly endpoints: readonly string[];
}

/** Interval of reconciliation without any failure: one scan of the queue takes 70 ms at a million rows. */
const reconcileEveryMs = 60_000;
/** By then its heartbeat is late. PostgreSQL may need a moment to end the session of a process. */
const suspectedMs = 3_000;

export class Lease {
  readonly #options: LeaseOptions;
  readonly #loop: Loop;
  readonly #observed = new Map<number, { leaseExpiresMs: number; since: number }>();
  /** Workers whose processes may have ended, and until when they are suspected. */
  readonly #suspects = new Map<number, number>();
  #connection: DirectConnection | undefined;
  #id = 0;
  #renewedAt = Number.NEGATIVE_INFINITY;
  readonly #reconciling: Loop;
  #reconcilePauseMs = reconcileEveryMs;
  #reconcileTimer: NodeJS.Timeout | undefined;
  /** After a reconnect the old session may still hold the lock for a while; the lock is then requested again. */
  #holdsLivenessLock = false;
  #others = 0;
  #utilisation = 0;
  readonly #balance = new LaneBalance();
  #stopped = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#loop = new Loop({
      name: "lease renewal",
      intervalMs: Math.max(50, Math.min(1_000, options.leaseMs / 10)),
      logger: options.logger,
      step: () => this.#heartbeat(),
    });
    // In a separate loop: it waits for claims in progress, and a heartbeat must not wait.
    this.#reconciling = new Loop({
      name: "reconciling claims",
      intervalMs: reconcileEveryMs,
      logger: options.logger,
      step: () => this.#reconcile(),
    });
  }

  get workerId(): number {
    return this.#id;
  }

  /** The number of other registered workers. */
  get others(): number {
    return this.#others;
  }

  /** False if other workers should get the lanes that become ready. */
  get mayGainLanes(): boolean {
    return this.#balance.mayGainLanes;
  }

  /** Returns how many lanes this worker should yield now. */
  takeLanesToYield(): number {
    return this.#balance.takeLanesToYield(this.#options.holder.laneCount, performance.now());
  }

  /** False from shortly before the lease expires, because another worker may then reap this one: nothing is started. */
  get isFresh(): boolean {
    const { leaseMs } = this.#options;
    return performance.now() < this.#renewedAt + leaseMs - Math.min(2_000, leaseMs / 5);
  }

  /** True if the database accepted a write within the last few renewals, so it is reachable and not read-only. */
  get isHealthy(): boolean {
    return this.#connection !== undefined && performance.now() - this.#renewedAt < 3_000;
  }

  /** False behind a connection pooler and while disconnected: notifications of the database do not arrive. */
  get isNotified(): boolean {
    return this.#connection?.isDirect === true;
  }

  async start(): Promise<void> {
    await this.#connect();
    await this.#begin();
    await this.#loop.start();
    await this.#reconciling.start();
  }

  /** Reaps itself: its lanes become free, and what could not be released is recorded with the outcome `unknown`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#reconcileTimer);
    await this.#reconciling.stop();
    await this.#loop.stop();
    if (this.#id !== 0) {
      await reap(this.#options.db, { id: this.#id, leaseExpiresMs: null }).catch((error: Error) => {
        this.#options.logger.warn(
          "could not release the worker's lease; another worker reaps this one when it expires",
          {
            error: error.message,
          },
        );
      });
    }
    this.#id = 0;
    await this.#connection?.close();
    this.#connection = undefined;
  }

  /**
   * A claim or its reply was lost. Reconciles as soon as the database responds, and again later, because a statement
   * whose connection was cut may still be running or waiting for a lock.
   */
  reconcileSoon(): void {
    this.#reconcilePauseMs = 1_000;
    this.#reconciling.wake();
    this.#loop.wake();
  }

  /** That worker's process may have ended: it is reaped at once if its session has, not only when its heartbeat is late. */
  suspect(workerId: number): void {
    this.#suspects.set(workerId, performance.now() + suspectedMs);
    this.#loop.wake();
  }

  /** Renews the lease now. A reaped worker has a new id afterwards. */
  async check(): Promise<void> {
    await this.#loop.runNow();
  }

  async #heartbeat(): Promise<boolean> {
    try {
      if (this.#connection === undefined) await this.#connect();
      await this.#renew();
      if (!this.#holdsLivenessLock) await this.#acquireLivenessLock();
      await this.#reapDead();
      return false;
    } catch (error) {
      // the server may be read-only now, or unreachable: the next heartbeat opens a new connection
      if (isUnavailable(error)) this.#dropConnection();
      throw error;
    }
  }

  async #reconcile(): Promise<boolean> {
    await this.#options.holder.reconcile();
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
    this.#options.holder.connectionLost();
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
      logger.info(
        "the database is behind a connection pooler: workers poll, and take over only when a lease has expired",
      );
    }
    connection.onNotification((channel, payload) => {
      this.#options.holder.hinted({
        isOutbox: payload === OUTBOX,
        forAll: channel === commonChannel(db.schema),
        isLost: payload === LOST,
        endpoints: payload === "" ? [] : payload.split(","),
      });
    });
    if (this.#id !== 0) await this.#claimSession();
  }

  async #begin(): Promise<void> {
    const { db, clock, leaseMs } = this.#options;
    const connection = this.#connection as DirectConnection;
    const requestedAt = performance.now();
    const { id, nowMs } = await registerWorker(db, {
      name: `${hostname()}:${process.pid}`,
      leaseMs,
      holdsLivenessLock: connection.isDirect,
      delivers: this.#options.delivers,
      socket: this.#options.holder.socket,
    });
    clock.follow(nowMs, requestedAt, performance.now());
    this.#id = id;
    this.#renewedAt = requestedAt;
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
    const { clock, leaseMs, logger, holder } = this.#options;
    const connection = this.#connection as DirectConnection;
    const requestedAt = performance.now();
    this.#utilisation = this.#options.utilisation();
    const databaseMs = await renewWorker(
      connection,
      this.#id,
      leaseMs,
      this.#utilisation,
      holder.laneCount,
      holder.claimsSince(),
    );
    if (databaseMs !== null) {
      this.#renewedAt = requestedAt;
      clock.follow(databaseMs, requestedAt, performance.now());
      return;
    }
    logger.warn("this worker was declared dead and reaped; it continues under a new id", {
      workerId: this.#id,
    });
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    await holder.reaped(async () => {
      if (connection.isDirect) await releaseLivenessLocks(connection);
      await this.#begin();
    });
  }

  async #reapDead(): Promise<void> {
    const { db, leaseMs, logger, holder } = this.#options;
    const lateMs = leaseMs - Math.min(2_000, leaseMs / 2);
    const connection = this.#connection as DirectConnection;
    const others = await otherWorkers(connection, this.#id, db.schema, lateMs, [...this.#suspects.keys()]);
    this.#others = others.length;
    this.#balance.compare({ lanes: holder.laneCount, utilisation: this.#utilisation }, others);
    holder.othersSeen(others);
    const now = performance.now();
    const ids = new Set(others.map(({ id }) => id));
    for (const id of this.#observed.keys()) if (!ids.has(id)) this.#observed.delete(id);
    for (const [id, until] of this.#suspects) if (now >= until) this.#suspects.delete(id);
    for (const other of others) {
      const before = this.#observed.get(other.id);
      const since = before?.leaseExpiresMs === other.leaseExpiresMs ? before.since : now;
      this.#observed.set(other.id, { leaseExpiresMs: other.leaseExpiresMs, since });
      // A jump of the database's clock expires every lease at once. Only a lease that is unchanged for long enough by
      // this process's monotonic clock is expired.
      const isUnchanged = now - since >= leaseMs;
      if (!other.sessionGone && !(other.leaseEnded && isUnchanged)) continue;
      const reaped = await reap(db, other);
      if (reaped === null) continue;
      logger.warn("reaped a dead worker; its deliveries are due again", { ...reaped });
      holder.anotherWasReaped();
    }
  }
}
