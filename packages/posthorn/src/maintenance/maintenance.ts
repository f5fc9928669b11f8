// Runs maintenance in the leading process: partitions, retention, vacuum, and repair of inconsistencies. Each task has
// its own loop, so that a failure delays no other.
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import type { Database } from "../storage/database.ts";
import { repairLanes } from "../storage/queries/lanes/release.ts";
import { cancelForDeletedEndpoints } from "../storage/queries/queue/cancel.ts";
import { missingWorkers, reapMissing } from "../storage/queries/workers/reap.ts";
import { Leader } from "./leader.ts";
import { maintainPartitions } from "./partitions.ts";
import { prune, type Retention } from "./prune.ts";
import { activityRollUp } from "./roll-up.ts";
import { TableVacuum } from "./vacuum.ts";

export interface MaintenanceOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly workerId: () => number;
  /** The database's time. */
  readonly nowMs: () => number;
  readonly retention: Retention;
  /** Further tasks by name. */
  readonly others: Readonly<Record<string, () => Promise<void>>>;
}

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #leader: Leader;
  readonly #loops: readonly Loop[];
  #isStopping = false;

  constructor(options: MaintenanceOptions) {
    const { db, logger, workerId, nowMs, retention, others } = options;
    this.#options = options;
    this.#leader = new Leader({
      work: "maintenance",
      db,
      logger,
      workerId,
      onElected: () => this.#wakeAll(),
    });
    const mayContinue = (): boolean => this.#leader.leads && !this.#isStopping;
    const pruning = { db, logger, mayContinue, ...retention };
    const tables = new TableVacuum({ db, logger });
    this.#loops = [
      this.#loop("vacuum", 1_000, () => tables.run()),
      this.#loop("partition maintenance", 60_000, () => maintainPartitions(pruning)),
      this.#loop("pruning", 600_000, () => prune(pruning)),
      this.#loop("activity roll-up", 600_000, activityRollUp({ db, nowMs, mayContinue })),
      this.#loop("consistency check", 60_000, () => this.#repair()),
      ...Object.entries(others).map(([name, work]) => this.#loop(name, 60_000, work)),
    ];
  }

  get leads(): boolean {
    return this.#leader.leads;
  }

  async start(): Promise<void> {
    await this.#leader.start();
    for (const loop of this.#loops) await loop.start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await this.#leader.stop();
  }

  /** Runs every task now, if this process leads. */
  async runNow(): Promise<void> {
    await this.#leader.runNow();
    for (const loop of this.#loops) await loop.runNow();
  }

  #loop(name: string, intervalMs: number, work: () => Promise<void>): Loop {
    const step = async (): Promise<boolean> => {
      if (this.#leader.leads) await work();
      return false;
    };
    return new Loop({ name, intervalMs, logger: this.#options.logger, step });
  }

  #wakeAll(): void {
    for (const loop of this.#loops) loop.wake();
  }

  async #repair(): Promise<void> {
    const { db, logger } = this.#options;
    await cancelForDeletedEndpoints(db);
    for (const workerId of await missingWorkers(db)) {
      const reaped = await reapMissing(db, workerId);
      logger.error("released deliveries of a worker that does not exist", { ...reaped });
    }
    const lanes = await repairLanes(db);
    if (lanes > 0) logger.error("made lanes ready whose deliveries no worker would have claimed", { lanes });
  }
}
