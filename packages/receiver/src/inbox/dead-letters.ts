// Dead letters for the people who look after them.
import type { FailurePolicy } from "../handle/decide-failure.ts";
import { processClaim } from "../handle/process-claim.ts";
import type { MessageKey } from "../model.ts";
import type { Runtime } from "../runtime.ts";
import type { DeadLetter } from "../store.ts";

export interface DeadLetters {
  /** The newest first, 100 unless told; `after` is the last one of the page before. */
  list(options?: {
    readonly limit?: number | undefined;
    readonly after?: DeadLetter | undefined;
  }): Promise<DeadLetter[]>;
  /** To alert on. */
  count(): Promise<number>;
  /** Handles it now, by its handler. When that fails it is a dead letter again. */
  replay(key: MessageKey): Promise<ReplayResult>;
  /** Done without being handled. False: it is not a dead letter. */
  discard(key: MessageKey): Promise<boolean>;
}

/**
 * `unknown`: it is not a dead letter. `skipped`: a worker has it now, the sequence guard dropped it because a later one was
 * applied, or holds it up: then it is a dead letter still.
 */
export type ReplayResult = "done" | "failed" | "skipped" | "unknown";

/** A person is waiting, and decides what comes next. */
const ONCE: FailurePolicy = { afterTries: 1, delayMs: null };

export function deadLettersOf<Tx>(runtime: Runtime<Tx>): DeadLetters {
  const { store, settings } = runtime;
  return {
    list: ({ limit = 100, after } = {}) => store.deadLetters.list({ limit, ...(after && { after }) }),
    count: () => store.deadLetters.count(),
    discard: (key) => store.deadLetters.discard(key),
    async replay(key) {
      const isRequeued = await store.deadLetters.requeue(key);
      // Also what is no dead letter any more because a replay of it crashed: after its lease it can be taken.
      const claim = await store.claimOne(key, settings.terms);
      if (claim === null) return isRequeued ? skip(key) : "unknown";
      const { kind } = await processClaim(runtime, claim, ONCE);
      return kind === "done" ? "done" : kind === "running" ? "skipped" : "failed";
    },
  };

  /** Without a worker nobody would ever take it from the inbox. False: a worker did, or it was stale and is done. */
  async function skip(key: MessageKey): Promise<"skipped"> {
    await store.deadLetters.undoRequeue(key);
    return "skipped";
  }
}
