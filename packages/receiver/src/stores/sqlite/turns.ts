// One connection has one transaction at a time, and a handler keeps it open over its awaits. So transactions take turns
// here, and wait for those of other processes without ever blocking the event loop.
import { type Connection, isBusy } from "./connection.ts";

/** Another process kept the database locked for as long as the store may wait. Nothing was written. */
export class DatabaseBusy extends Error {
  override readonly name = "DatabaseBusy";

  constructor(waitedMs: number) {
    super(
      `Another process kept the SQLite database locked for ${waitedMs} ms. Keep its transactions short, or raise busyWaitMs.`,
    );
  }
}

/** A handler that commits or rolls back takes the savepoint away with the transaction. */
const SAVEPOINT = "posthorn_receiver";

export class Turns {
  readonly #connection: Connection;
  readonly #busyWaitMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #isPrepared = false;

  constructor(connection: Connection, busyWaitMs: number) {
    this.#connection = connection;
    this.#busyWaitMs = busyWaitMs;
  }

  /** All or nothing; after those that asked before. */
  transaction<T>(work: () => T | Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#run(work));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Within a transaction: the handler may use it, and must leave it open for what the store writes after. */
  async lend(handler: () => Promise<void>): Promise<void> {
    this.#connection.exec(`savepoint ${SAVEPOINT}`);
    await handler();
    try {
      this.#connection.exec(`release ${SAVEPOINT}`);
    } catch (error) {
      throw new Error(
        "The handler ended the transaction it was given. Leave commit and rollback to the receiver: it commits when the handler returns, and rolls back when it throws.",
        { cause: error },
      );
    }
  }

  async #run<T>(work: () => T | Promise<T>): Promise<T> {
    await this.#begin();
    try {
      const result = await work();
      await this.#unlocked(() => this.#connection.exec("commit"));
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  async #begin(): Promise<void> {
    if (!this.#isPrepared) {
      // SQLite would sleep in this thread; better-sqlite3 has five seconds by default
      this.#connection.all("pragma busy_timeout = 0");
      this.#isPrepared = true;
    }
    try {
      await this.#unlocked(() => this.#connection.exec("begin immediate"));
    } catch (error) {
      if (!/within a transaction/.test(String(error))) throw error;
      throw new Error(
        "The store's SQLite connection is in a transaction that the store did not begin. Open a connection for the store alone.",
        { cause: error },
      );
    }
  }

  #rollBack(): void {
    try {
      this.#connection.exec("rollback");
    } catch {
      // SQLite rolled back by itself, or the handler did
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
        if (waitedMs >= this.#busyWaitMs) throw new DatabaseBusy(waitedMs);
      }
      // by chance, so that processes that wait do not meet again and again
      await new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * 18));
    }
  }
}
