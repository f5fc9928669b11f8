// Elects one process for work that one process does, such as maintenance. Any process may lead, whatever its role.
//   watching ──free, expired, or its worker was reaped──► leading ──renewed every second──► leading
//      ▲                                                    │
//      └── not renewed for 5 s · another leads · stopped ───┘
// A killed leader is reaped in about two seconds, or its lease expires after five; behind a connection pooler always
// the latter. Two processes may lead for a moment: nothing they do is harmful when done twice.
import { performance } from "node:perf_hooks";
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import type { Queryable } from "../storage/database.ts";
import { holdLeadership } from "../storage/queries/leadership.ts";

export interface LeaderOptions {
  /** The row in `leadership`. */
  readonly work: string;
  readonly db: Queryable;
  readonly logger: Logger;
  /** Changes if this process was declared dead. */
  readonly workerId: () => number;
  readonly onElected: () => void;
}

const leaseMs = 5_000;
const renewEveryMs = 1_000;

export class Leader extends Loop {
  readonly #options: LeaderOptions;
  #leadsUntil = Number.NEGATIVE_INFINITY;

  constructor(options: LeaderOptions) {
    const { logger } = options;
    super({
      name: `leadership of ${options.work}`,
      intervalMs: renewEveryMs,
      logger,
      step: () => this.#hold(),
    });
    this.#options = options;
  }

  get leads(): boolean {
    return performance.now() < this.#leadsUntil;
  }

  /** Leadership becomes free when this worker deregisters, or a few seconds from now. */
  override async stop(): Promise<void> {
    await super.stop();
    this.#leadsUntil = Number.NEGATIVE_INFINITY;
  }

  async #hold(): Promise<boolean> {
    const { work, db, logger, workerId, onElected } = this.#options;
    const led = this.leads;
    const asked = performance.now();
    const holds = await holdLeadership(db, workerId(), leaseMs, work);
    this.#leadsUntil = holds ? asked + leaseMs : Number.NEGATIVE_INFINITY;
    if (holds && !led) {
      logger.info(`this process leads ${work}`, { workerId: workerId() });
      onElected();
    }
    return false;
  }
}
