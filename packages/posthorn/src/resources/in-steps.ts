// Changes rows that match a filter in bounded calls. A call changes a limited number in short transactions and returns where
// the next one continues, so that a million rows take no long transaction and no long request.
import type { Uuid } from "../model.ts";

export interface Step {
  /** How many rows it changed. */
  readonly count: number;
  /** Where the next step continues; null at the end. */
  readonly next: Uuid | null;
}

/** Rows per transaction: less than 100 ms. */
export const ROWS_PER_STEP = 500;
const STEPS_PER_CALL = 20;

/** Runs up to 20 steps, each from where the previous one ended. */
export async function inSteps(first: Uuid, run: (from: Uuid) => Promise<Step>): Promise<Step> {
  let count = 0;
  let next: Uuid | null = first;
  for (let step = 0; step < STEPS_PER_CALL && next !== null; step += 1) {
    try {
      const result: Step = await run(next);
      count += result.count;
      next = result.next;
    } catch (error) {
      // what was changed must be reported; the next call meets the error again, or not
      if (count === 0) throw error;
      break;
    }
  }
  return { count, next };
}

/** The first whole millisecond after this time: what has happened was before it. */
export function dateAfter(ms: number): Date {
  return new Date(Math.floor(ms) + 1);
}

/** In milliseconds; the precision of PostgreSQL. */
const MICROSECOND = 0.001;

/** The last time before this one. */
export function lastMsBefore(date: Date): number {
  return date.getTime() - MICROSECOND;
}
