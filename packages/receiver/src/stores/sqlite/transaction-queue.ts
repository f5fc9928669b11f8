// A connection has one transaction at a time, and a handler keeps it open across its awaits. So transactions are queued here,
// and wait for those of other processes without blocking the event loop.
import { type Connection, isBusy, sql } from "./connection.ts";

/** Another process held the lock for as long as the store may wait. Nothing was written. */
export class DatabaseBusy extends Error {
  override readonly name = "DatabaseBusy";

  constructor(waitedMs: number) {
    super(
      `Another process kept the SQLite database locked for ${waitedMs} ms. Keep its transactions short, or raise busyWaitMs.`,
    );
  }
}

/** Earlier transactions of this process took as long as the store may wait. Nothing was written. */
export class QueueTimeout extends Error {
  override readonly name = "QueueTimeout";

  constructor(waitedMs: number) {
    super(
      `The SQLite store waited ${waitedMs} ms for a handler's transaction. A handler must not wait for its own store, for example for deadLetters.count(). If the handler is only slow, raise queueWaitMs.`,
    );
  }
}

export interface QueueWaits {
  /** For transactions of other processes. */
  readonly busyWaitMs: number;
  /** For transactions of this process. */
  readonly queueWaitMs: number;
}

export class TransactionQueue {
  readonly #connection: Connection;
  readonly #waits: QueueWaits;
  #last: Promise<void> = Promise.resolve();
  #isPrepared = false;

  constructor(connection: Connection, waits: QueueWaits) {
    this.#connection = connection;
    this.#waits = waits;
  }

  /** Runs `work` in a transaction, after earlier ones. After a rollback, `onRollback` runs in its own transaction, before any other. */
  transaction<T>(work: () => T | Promise<T>, onRollback?: () => void): Promise<T> {
    const { queueWaitMs } = this.#waits;
    return new Promise((resolve, reject) => {
      let isMissed = false;
      const timer = setTimeout(() => {
        isMissed = true;
        reject(new QueueTimeout(queueWaitMs));
      }, queueWaitMs);
      this.#last = this.#last.then(async () => {
        clearTimeout(timer);
        if (!isMissed) await this.#run(work, onRollback).then(resolve, reject);
      });
    });
  }

  /** Runs a handler in the current transaction. It must leave the transaction open for the store's own writes. */
  async runHandler(handler: () => Promise<void>): Promise<void> {
    // A commit or rollback removes the savepoint. Its name is random, because a rollback to the savepoint would keep it.
    const savepoint = `posthorn_receiver_${crypto.randomUUID().replaceAll("-", "")}`;
    this.#connection.exec(`savepoint ${savepoint}`);
    await handler();
    try {
      this.#connection.exec(`release ${savepoint}`);
    } catch (error) {
      throw new Error(
        "The handler ended its transaction. Leave commit and rollback to the receiver: return to commit, throw to roll back.",
        { cause: error },
      );
    }
  }

  async #run<T>(work: () => T | Promise<T>, onRollback?: () => void): Promise<T> {
    await this.#begin();
    try {
      const result = await work();
      await this.#unlocked(() => this.#connection.exec("commit"));
      return result;
    } catch (error) {
      this.#rollBack();
      // If this fails, it has no effect.
      if (onRollback !== undefined) await this.#run(onRollback).catch(() => {});
      throw error;
    }
  }

  async #begin(): Promise<void> {
    if (!this.#isPrepared) {
      // SQLite would block this thread; better-sqlite3 waits five seconds by default.
      this.#connection.all(sql`pragma busy_timeout = 0`);
      this.#isPrepared = true;
    }
    try {
      await this.#unlocked(() => this.#connection.exec("begin immediate"));
    } catch (error) {
      if (!/within a transaction/.test(String(error))) throw error;
      throw new Error(
        "The store's SQLite connection is in a transaction that the store did not begin. Open a separate connection for the store.",
        { cause: error },
      );
    }
  }

  #rollBack(): void {
    try {
      this.#connection.exec("rollback");
    } catch {
      // SQLite rolled back itself, or the handler did.
    }
  }

  async #unlocked(act: () => void): Promise<void> {
    const since = performance.now();
    for (;;) {
      try {
        return act();
      } catch (error) {
        if (!isBusy(error)) throw error;
        const waitedMs = Math.round(performance.now() - since);
        if (waitedMs >= this.#waits.busyWaitMs) throw new DatabaseBusy(waitedMs);
      }
      // Random, so that waiting processes do not collide again and again.
      await new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * 18));
    }
  }
}
