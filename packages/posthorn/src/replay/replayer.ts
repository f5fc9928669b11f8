// Runs replays in the leading process. The state of a replay is its row, so the next leader continues it.
//   running ──everything that existed at the start was processed──► finished
//      │
//      └──cancelled before the next step──► cancelled
// A step reads some hundred deliveries and enqueues as many as the rate allows since the previous step, in one
// transaction. So a million deliveries need no more memory and no longer transactions than a hundred.

import type { LoadRoutes } from "../fan-out/routes.ts";
import type { Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import { Loop, POLLED_MS } from "../service/loop.ts";
import type { Database } from "../storage/database.ts";
import { readReplay } from "../storage/queries/replays/advance.ts";
import { runningReplays } from "../storage/queries/replays/replays.ts";
import { planStep } from "./plan-step.ts";
import { runStep } from "./run-step.ts";

export interface ReplayerOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly loadRoutes: LoadRoutes;
  /** Whether this process leads. */
  readonly leads: () => boolean;
  readonly onQueued: (endpointId: Uuid, owner: number | null) => void;
}

const stepEveryMs = 100;
const mostPerStep = 500;

export class Replayer extends Loop {
  readonly #options: ReplayerOptions;
  #isIdle = true;

  constructor(options: ReplayerOptions) {
    const { logger } = options;
    const intervalMs = () => (this.#isIdle ? POLLED_MS : stepEveryMs);
    super({ name: "replaying", intervalMs, logger, step: () => this.#advanceAll() });
    this.#options = options;
  }

  async #advanceAll(): Promise<boolean> {
    const running = this.#options.leads() ? await runningReplays(this.#options.db) : [];
    this.#isIdle = running.length === 0;
    let mayContinue = false;
    const failures: unknown[] = [];
    for (const id of running) {
      try {
        if (await this.#advance(id)) mayContinue = true;
      } catch (error) {
        // a failing replay does not delay others
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return mayContinue;
  }

  async #advance(id: Uuid): Promise<boolean> {
    const { db, loadRoutes, onQueued } = this.#options;
    const replay = await readReplay(db, id);
    if (replay === null || replay.allowance < 1) return false;
    // more than the rate allows, because skipped ones do not count
    const limit = Math.min(mostPerStep, replay.allowance * 4 + 20);
    const plan = await planStep(db, replay, { limit, loadRoutes });
    const result = await runStep(db, replay, plan);
    for (const [endpointId, owner] of result?.lanes ?? []) onQueued(endpointId, owner);
    return result?.mayContinue ?? false;
  }
}
