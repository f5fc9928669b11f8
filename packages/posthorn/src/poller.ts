// Polls for the loops whose work may come from other processes and wakes those that have some. One statement
// replaces a poll per loop: in an idle process most of a poll's cost is waking two processes.
import { performance } from "node:perf_hooks";
import type { Logger } from "./observe/log.ts";
import { Loop } from "./service/loop.ts";
import type { Queryable } from "./storage/database.ts";
import { findWork, type Work } from "./storage/queries/find-work.ts";

export interface PollerOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  readonly intervalMs: number;
  readonly loops: readonly PolledLoop[];
}

export interface PolledLoop {
  readonly hasWork: (work: Work) => boolean;
  readonly wake: () => void;
  /** It is woken at most this often: the work may belong to another process, or not due yet. */
  readonly everyMs: number;
}

export function createPoller({ db, logger, intervalMs, loops }: PollerOptions): Loop {
  const wokenAt = new Map<PolledLoop, number>();
  return new Loop({ name: "polling", intervalMs, logger, step: poll });

  async function poll(): Promise<boolean> {
    const work = await findWork(db);
    const now = performance.now();
    for (const loop of loops) {
      const isPaused = now - (wokenAt.get(loop) ?? Number.NEGATIVE_INFINITY) < loop.everyMs;
      if (isPaused || !loop.hasWork(work)) continue;
      wokenAt.set(loop, now);
      loop.wake();
    }
    return false;
  }
}
