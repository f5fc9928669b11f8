// Runs replays in the leading process. The state of a replay is its row, so the next leader continues it.
//   scheduled ──its time has come──► running ──everything that existed at the start was processed──► finished
//      │                                │
//      └──cancelled before the start────┴──cancelled before the next step──► cancelled
// A step reads some hundred deliveries and enqueues as many as the rate allows since the previous step, in one
// transaction. So a million deliveries need no more memory and no longer transactions than a hundred.

import { formatId } from "@posthorn/wire";
import type { LoadRoutes } from "../fan-out/routes.ts";
import type { Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import { Loop, POLLED_MS } from "../service/loop.ts";
import type { Database } from "../storage/database.ts";
import { readReplay } from "../storage/queries/replays/advance.ts";
import {
  dueReplays,
  findScheduled,
  runningReplays,
  startScheduled,
} from "../storage/queries/replays/replays.ts";
import { planStep } from "./plan-step.ts";
import { countRange, rangeNow } from "./replay-range.ts";
import { MOST_RUNNING_REPLAYS } from "./replays.ts";
import { runStep } from "./run-step.ts";

export interface ReplayerOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly nowMs: () => number;
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
    const { db, leads } = this.#options;
    this.#isIdle = true;
    if (!leads()) return false;
    const failures: unknown[] = [];
    /** A failing replay does not delay others. */
    const forEach = async (ids: readonly Uuid[], act: (id: Uuid) => Promise<void>) => {
      for (const id of ids) await act(id).catch((error: unknown) => failures.push(error));
    };
    await forEach(await dueReplays(db, MOST_RUNNING_REPLAYS), (id) => this.#start(id));
    const running = await runningReplays(db);
    this.#isIdle = running.length === 0;
    let mayContinue = false;
    await forEach(running, async (id) => {
      if (await this.#advance(id)) mayContinue = true;
    });
    if (failures.length > 0) throw failures[0];
    return mayContinue;
  }

  /** A replay beyond the maximum stays scheduled until another one ends. */
  async #start(id: Uuid): Promise<void> {
    const { db, nowMs, loadRoutes, logger } = this.#options;
    const asked = await findScheduled(db, id);
    if (asked === null) return;
    const range = await rangeNow(db, asked, nowMs());
    const { count, isExact } = await countRange(db, range, loadRoutes);
    const total = isExact ? count : null;
    if (await startScheduled(db, id, { ...range, total }, MOST_RUNNING_REPLAYS))
      logger.info("scheduled replay started", { replay: formatId("rpl", id), total });
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
