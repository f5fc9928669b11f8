// Collects settlements while the previous batch is being written: one statement per batch, and never a settlement
// dropped. Sending the same batch again is harmless: a row that was settled is gone, or counts one attempt more.
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
/** A settlement may wait this long for others, unless there are enough: half the statements, for a few milliseconds. */
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

  /** What is still waiting is given up: the worker's burial records it as unknown. */
  stop(): Promise<void> {
    clearTimeout(this.#linger);
    return this.#loop.stop();
  }

  get backlog(): number {
    return this.#waiting.length;
  }

  /** `done` is told once it is durable, or refused because the delivery is somebody else's by now. */
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

  /** One worker id per statement: a settlement from before a burial is refused under its own name. */
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

  /** Null: the batch was refused for what it says; its settlements are written one by one from here on. */
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
