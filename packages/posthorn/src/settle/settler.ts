// Collects settlements while the previous batch is being written: one statement per batch, and never a settlement
// dropped. Sending the same batch again is harmless, because a row that was settled is no longer there to settle.
import type { Settlement, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import type { Database } from "../storage/database.ts";
import { settle } from "../storage/queries/queue/settle.ts";

export interface SettlerOptions {
  readonly db: Database;
  readonly logger: Logger;
}

interface Waiting {
  readonly settlement: Settlement;
  readonly workerId: number;
  readonly done: (accepted: boolean) => void;
}

const maxBatch = 500;

export class Settler {
  readonly #options: SettlerOptions;
  readonly #waiting: Waiting[] = [];
  readonly #loop: Loop;

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
    return this.#loop.stop();
  }

  get backlog(): number {
    return this.#waiting.length;
  }

  /** `done` is told once it is durable, or refused because the delivery is somebody else's by now. */
  add(settlement: Settlement, workerId: number, done: (accepted: boolean) => void): void {
    this.#waiting.push({ settlement, workerId, done });
    this.#loop.wake();
  }

  async #write(): Promise<boolean> {
    const first = this.#waiting[0];
    if (first === undefined) return false;
    // one worker id per statement: a settlement from before a burial is refused under its own name
    let size = 1;
    while (size < maxBatch && this.#waiting[size]?.workerId === first.workerId) size += 1;
    const batch = this.#waiting.slice(0, size).map((entry) => entry.settlement);
    const accepted: ReadonlySet<Uuid> = await settle(this.#options.db, first.workerId, batch);
    for (const { settlement, done } of this.#waiting.splice(0, size))
      done(accepted.has(settlement.delivery.id));
    return this.#waiting.length > 0;
  }
}
