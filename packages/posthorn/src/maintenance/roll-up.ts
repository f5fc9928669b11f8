// Rolls five-minute intervals of the charts up into hours, and deletes expired ones. Each step is a transaction.
import type { Uuid } from "../model.ts";
import { pruneActivity, rollUpHour, WIDTHS } from "../storage/queries/activity.ts";
import type { PruneOptions } from "./prune.ts";

interface RollUpOptions extends Pick<PruneOptions, "db" | "mayContinue"> {
  /** The database's time. */
  readonly nowMs: () => number;
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

/**
 * Returns a function that rolls up the last two complete hours every time, because workers may be late, and the hours
 * since the last run, up to a day, because the previous leader may have stopped at any time.
 */
export function activityRollUp({ db, nowMs, mayContinue }: RollUpOptions): () => Promise<void> {
  /** All hours before this one are rolled up, as far as this process knows. */
  let doneBeforeMs = 0;
  return async () => {
    const thisHourMs = Math.floor(nowMs() / hourMs) * hourMs;
    const fromMs = Math.max(thisHourMs - dayMs, Math.min(doneBeforeMs, thisHourMs - 2 * hourMs));
    for (let atMs = fromMs; atMs < thisHourMs; atMs += hourMs) await rollUp(new Date(atMs));
    if (mayContinue()) doneBeforeMs = thisHourMs;
    for (const { width, seconds } of kept)
      while (mayContinue() && (await pruneActivity(db, width, seconds, pruneStep)) === pruneStep);
  };

  async function rollUp(hour: Date): Promise<void> {
    let last: Uuid | null = null;
    while (mayContinue()) {
      last = await rollUpHour(db, hour, last, rollUpStep);
      if (last === null) return;
    }
  }
}
