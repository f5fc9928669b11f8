// What keeps the tables in shape: partitions of the coming days, statistics that follow a queue that grows from
// nothing to a million rows within a minute, and a net under everything that should never happen.
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import type { Database } from "../storage/database.ts";
import { ensurePartitions } from "../storage/queries/partitions/ensure.ts";
import { cancelOwedToDeleted } from "../storage/queries/queue/cancel.ts";
import { analyzeQueue, queuePages } from "../storage/queries/queue/statistics.ts";
import { buryMissing, missingWorkers } from "../storage/queries/workers/bury.ts";

export interface UpkeepOptions {
  readonly db: Database;
  readonly logger: Logger;
}

const partitionsEveryMs = 3_600_000;
const sweepEveryMs = 60_000;

export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #loop: Loop;
  #partitionsAt = Number.NEGATIVE_INFINITY;
  #sweptAt = Number.NEGATIVE_INFINITY;
  #analyzedPages = 0;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#loop = new Loop({
      name: "upkeep",
      intervalMs: 1_000,
      logger: options.logger,
      step: () => this.#tend(),
    });
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #tend(): Promise<boolean> {
    const { db } = this.#options;
    if (performance.now() - this.#partitionsAt > partitionsEveryMs) {
      await ensurePartitions(db);
      this.#partitionsAt = performance.now();
    }
    if (performance.now() - this.#sweptAt > sweepEveryMs) {
      await this.#sweep();
      this.#sweptAt = performance.now();
    }
    // A plan that was made for a handful of rows reads a large queue from end to end; new statistics make a new plan.
    const pages = await queuePages(db);
    if (pages > Math.max(64, this.#analyzedPages * 4) || pages < this.#analyzedPages / 4) {
      await analyzeQueue(db);
      this.#analyzedPages = pages;
    }
    return false;
  }

  async #sweep(): Promise<void> {
    const { db, logger } = this.#options;
    await cancelOwedToDeleted(db);
    for (const workerId of await missingWorkers(db)) {
      const burial = await buryMissing(db, workerId);
      logger.error("rows were held by a worker that does not exist; they are owed again", { ...burial });
    }
  }
}
