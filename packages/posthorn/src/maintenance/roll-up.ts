// Charts: five-minute stretches become hours, and all go when their time is over. In steps, each its own transaction.
import type { Uuid } from "../model.ts";
import type { Database } from "../storage/database.ts";
import { WIDTHS } from "../storage/queries/activity/add.ts";
import { pruneActivity, rollUpHour } from "../storage/queries/activity/roll-up.ts";

export interface RollUpOptions {
  readonly db: Database;
  /** The database's time. */
  readonly nowMs: () => number;
  /** False when this process stops or no longer leads: asked between steps. */
  readonly mayGoOn: () => boolean;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const hourSeconds = 3_600;
/** Endpoints: 12,000 stretches at most, 30 ms. */
const rollUpStep = 1_000;
const pruneStep = 5_000;

/** With an hour more than is shown: who asks may be a moment late. */
const kept = [
  { width: WIDTHS.minute, seconds: 2 * hourSeconds },
  { width: WIDTHS.five, seconds: 25 * hourSeconds },
  { width: WIDTHS.hour, seconds: (30 * 24 + 1) * hourSeconds },
] as const;

export class ActivityRollUp {
  readonly #options: RollUpOptions;
  /** Before this hour all are rolled up, as far as this process knows. */
  #doneBeforeMs = 0;

  constructor(options: RollUpOptions) {
    this.#options = options;
  }

  /**
   * The last two hours that are over, again and again: workers may be late. And those since it was done last, up to a
   * day: whoever led before may have stopped at any hour.
   */
  async tend(): Promise<void> {
    const { db, nowMs, mayGoOn } = this.#options;
    const thisHourMs = Math.floor(nowMs() / hourMs) * hourMs;
    const fromMs = Math.max(thisHourMs - dayMs, Math.min(this.#doneBeforeMs, thisHourMs - 2 * hourMs));
    for (let atMs = fromMs; atMs < thisHourMs; atMs += hourMs) await this.#rollUp(new Date(atMs));
    if (mayGoOn()) this.#doneBeforeMs = thisHourMs;
    for (const { width, seconds } of kept)
      while (mayGoOn() && (await pruneActivity(db, width, seconds, pruneStep)) === pruneStep);
  }

  async #rollUp(hour: Date): Promise<void> {
    const { db, mayGoOn } = this.#options;
    let last: Uuid | null = null;
    while (mayGoOn()) {
      last = await rollUpHour(db, hour, last, rollUpStep);
      if (last === null) return;
    }
  }
}
