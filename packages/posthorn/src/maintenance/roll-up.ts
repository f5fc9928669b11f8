// Rolls five-minute intervals of the charts up into hours, and deletes expired ones. Each step is a transaction.
import type { Uuid } from "../model.ts";
import type { Database } from "../storage/database.ts";
import { WIDTHS } from "../storage/queries/activity/add.ts";
import { pruneActivity, rollUpHour } from "../storage/queries/activity/roll-up.ts";

export interface RollUpOptions {
  readonly db: Database;
  /** The database's time. */
  readonly nowMs: () => number;
  /** False if this process stops or no longer leads; checked between steps. */
  readonly mayContinue: () => boolean;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const hourSeconds = 3_600;
/** Number of endpoints per step: at most 12,000 intervals, 30 ms. */
const rollUpStep = 1_000;
const pruneStep = 5_000;

/** One hour more than the charts show. */
const kept = [
  { width: WIDTHS.minute, seconds: 2 * hourSeconds },
  { width: WIDTHS.five, seconds: 25 * hourSeconds },
  { width: WIDTHS.hour, seconds: (30 * 24 + 1) * hourSeconds },
] as const;

export class ActivityRollUp {
  readonly #options: RollUpOptions;
  /** All hours before this one are rolled up, as far as this process knows. */
  #doneBeforeMs = 0;

  constructor(options: RollUpOptions) {
    this.#options = options;
  }

  /**
   * Rolls up the last two complete hours every time, because workers may be late, and the hours since the last run, up
   * to a day, because the previous leader may have stopped at any time.
   */
  async run(): Promise<void> {
    const { db, nowMs, mayContinue } = this.#options;
    const thisHourMs = Math.floor(nowMs() / hourMs) * hourMs;
    const fromMs = Math.max(thisHourMs - dayMs, Math.min(this.#doneBeforeMs, thisHourMs - 2 * hourMs));
    for (let atMs = fromMs; atMs < thisHourMs; atMs += hourMs) await this.#rollUp(new Date(atMs));
    if (mayContinue()) this.#doneBeforeMs = thisHourMs;
    for (const { width, seconds } of kept)
      while (mayContinue() && (await pruneActivity(db, width, seconds, pruneStep)) === pruneStep);
  }

  async #rollUp(hour: Date): Promise<void> {
    const { db, mayContinue } = this.#options;
    let last: Uuid | null = null;
    while (mayContinue()) {
      last = await rollUpHour(db, hour, last, rollUpStep);
      if (last === null) return;
    }
  }
}
