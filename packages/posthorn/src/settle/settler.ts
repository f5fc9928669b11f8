// Collects settlements while the previous batch is being written: one statement per batch. Writing a batch again is
// harmless: a settled row has left the queue, or has one attempt more.
import type { Settlement, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Observer } from "../observe/observer.ts";
import { Loop } from "../service/loop.ts";
import { type Database, isConflict, isUnavailable } from "../storage/database.ts";
import { settle } from "../storage/queries/queue/settle.ts";

export interface SettlerOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly observer: Observer;
}

interface Waiting {
  readonly settlement: Settlement;
  readonly workerId: number;
  readonly done: (accepted: boolean) => void;
}

const largestBatch = 500;
/** How long a settlement waits for others if there are few: half the statements, for a few milliseconds. */
const lingerMs = 3;
const enough = 100;

export class Settler {
  readonly #options: SettlerOptions;
  readonly #waiting: Waiting[] = [];
  readonly #loop: Loop;
  #batchLimit = largestBatch;
  #linger: NodeJS.Timeout | undefined;

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#loop = new Loop({
      name: "settling",
      intervalMs: 60_000,
      logger: options.logger,
      step: () => this.#write(),
    });
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  /** Drops what is still waiting: it is recorded with the outcome `unknown` when the worker is reaped. */
  stop(): Promise<void> {
    clearTimeout(this.#linger);
    return this.#loop.stop();
  }

  get backlog(): number {
    return this.#waiting.length;
  }

  /** Calls `done` when the settlement is durable, or refused because another worker owns the delivery. */
  add(settlement: Settlement, workerId: number, done: (accepted: boolean) => void): void {
    this.#waiting.push({ settlement, workerId, done });
    if (this.#waiting.length >= enough) this.#loop.wake();
    else this.#writeSoon();
  }

  #writeSoon(): void {
    this.#linger ??= setTimeout(() => {
      this.#linger = undefined;
      this.#loop.wake();
    }, lingerMs);
  }

  async #write(): Promise<boolean> {
    const batch = this.#nextBatch();
    if (batch.length === 0) return false;
    const { workerId } = batch[0] as Waiting;
    const accepted = await this.#settle(
      workerId,
      batch.map((entry) => entry.settlement),
    );
    if (accepted !== null) {
      for (const { settlement, done } of this.#waiting.splice(0, batch.length))
        done(accepted.has(settlement.delivery.id));
    }
    if (this.#waiting.length >= enough) return true;
    if (this.#waiting.length > 0) this.#writeSoon();
    return false;
  }

  /** One worker id per statement: a settlement under the id of a reaped worker is refused. */
  #nextBatch(): readonly Waiting[] {
    const workerId = this.#waiting[0]?.workerId;
    let size = 0;
    while (
      size < this.#batchLimit &&
      size < this.#waiting.length &&
      this.#waiting[size]?.workerId === workerId
    )
      size += 1;
    return this.#waiting.slice(0, size);
  }

  /** Returns null if the database rejected the batch's content; from then on settlements are written one by one. */
  async #settle(workerId: number, settlements: readonly Settlement[]): Promise<ReadonlySet<Uuid> | null> {
    try {
      const startedAt = performance.now();
      const accepted = await settle(this.#options.db, workerId, settlements);
      this.#options.observer.metrics.statementTook("settle", performance.now() - startedAt);
      this.#batchLimit = Math.min(largestBatch, this.#batchLimit * 2);
      return accepted;
    } catch (error) {
      if (isUnavailable(error) || isConflict(error)) throw error;
      this.#options.logger.error("a settlement was refused", {
        error: (error as Error).message,
        deliveries: settlements.length,
      });
      this.#batchLimit = 1;
      return settlements.length > 1 ? null : new Set();
    }
  }
}
