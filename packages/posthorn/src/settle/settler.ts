// Collects settlements while the previous batch is being written: one statement per batch. Writing a batch again is
// harmless: deliveries without a queue row get one first, and a settled row has left the queue or has one attempt more.
import type { Settlement, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Observer } from "../observe/observer.ts";
import { Loop } from "../service/loop.ts";
import { type Database, isConflict, isUnavailable } from "../storage/database.ts";
import { settle } from "../storage/queries/queue/settle.ts";

/** A finished attempt, with whatever its worker needs once it is settled. */
export interface FinishedAttempt {
  readonly settlement: Settlement;
  readonly workerId: number;
}

/** The settlements are durable, except the refused ones: another worker owns these deliveries. */
export type OnSettled<Finished> = (batch: readonly Finished[], refusedIds: ReadonlySet<Uuid>) => void;

export interface SettlerOptions<Finished extends FinishedAttempt> {
  readonly db: Database;
  readonly logger: Logger;
  readonly observer: Observer;
  readonly reportsDead: boolean;
  readonly onSettled: OnSettled<Finished>;
}

const largestBatch = 500;
/** How long a settlement waits for others if there are few. This halves the number of statements. */
const lingerMs = 3;
/** From this many waiting settlements on, a batch is written at once. */
const minBatch = 100;

export class Settler<Finished extends FinishedAttempt> extends Loop {
  readonly #options: SettlerOptions<Finished>;
  readonly #waiting: Finished[] = [];
  #batchLimit = largestBatch;
  #linger: NodeJS.Timeout | undefined;

  constructor(options: SettlerOptions<Finished>) {
    const { logger } = options;
    super({ name: "settling", intervalMs: 60_000, logger, step: () => this.#write() });
    this.#options = options;
  }

  /** Drops settlements that are still waiting: their attempts are recorded with the error `unknown` when the worker is reaped. */
  override stop(): Promise<void> {
    clearTimeout(this.#linger);
    return super.stop();
  }

  get backlog(): number {
    return this.#waiting.length;
  }

  add(finished: Finished): void {
    this.#waiting.push(finished);
    if (this.#waiting.length >= minBatch) this.wake();
    else this.#writeSoon();
  }

  #writeSoon(): void {
    this.#linger ??= setTimeout(() => {
      this.#linger = undefined;
      this.wake();
    }, lingerMs);
  }

  async #write(): Promise<boolean> {
    const batch = this.#nextBatch();
    if (batch.length === 0) return false;
    const { workerId } = batch[0] as Finished;
    const refused = await this.#settle(
      workerId,
      batch.map((entry) => entry.settlement),
    );
    if (refused !== null) this.#options.onSettled(this.#waiting.splice(0, batch.length), refused);
    if (this.#waiting.length >= minBatch) return true;
    if (this.#waiting.length > 0) this.#writeSoon();
    return false;
  }

  /** One worker id per statement: a settlement under the id of a reaped worker is refused. */
  #nextBatch(): readonly Finished[] {
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

  /** Returns the refused ids, or null if the database rejected the batch's content: it is then written one by one. */
  async #settle(workerId: number, settlements: readonly Settlement[]): Promise<ReadonlySet<Uuid> | null> {
    try {
      const startedAt = performance.now();
      const { db, observer, reportsDead } = this.#options;
      const refused = await settle(db, workerId, settlements, { reportsDead });
      observer.statementTook("settle", startedAt);
      this.#batchLimit = Math.min(largestBatch, this.#batchLimit * 2);
      return refused;
    } catch (error) {
      if (isUnavailable(error) || isConflict(error)) throw error;
      this.#options.logger.error("the database rejected a settlement", {
        error: (error as Error).message,
        deliveries: settlements.length,
      });
      this.#batchLimit = 1;
      return settlements.length > 1 ? null : new Set(settlements.map(({ delivery }) => delivery.id));
    }
  }
}
