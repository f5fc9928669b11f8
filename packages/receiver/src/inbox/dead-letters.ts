// Dead letters, for operators.
import type { FailurePolicy } from "../handle/decide-failure.ts";
import { processClaim } from "../handle/process-claim.ts";
import type { MessageKey } from "../model.ts";
import type { Runtime } from "../runtime.ts";
import type { DeadLetter } from "../store.ts";

export interface DeadLetters {
  /** Newest first, 100 by default; `after` is the last one of the previous page. */
  list(options?: {
    readonly limit?: number | undefined;
    readonly after?: DeadLetter | undefined;
  }): Promise<DeadLetter[]>;
  /** The number of dead letters, for alerts. */
  count(): Promise<number>;
  /** Handles it now. If that fails, it is a dead letter again. */
  replay(key: MessageKey): Promise<ReplayResult>;
  /** Marks it as done without handling it. Returns false if it is not a dead letter. */
  discard(key: MessageKey): Promise<boolean>;
}

/**
 * `unknown`: it is not a dead letter. `skipped`: a worker has claimed it, ordering dropped it because a later message was applied, or it
 * must wait for its subject and remains a dead letter.
 */
export type ReplayResult = "done" | "failed" | "skipped" | "unknown";

/** One attempt: a person is waiting and decides what comes next. */
const ONCE: FailurePolicy = { afterFailures: 1, delayMs: null };

export function deadLettersOf<Tx>(runtime: Runtime<Tx>): DeadLetters {
  const { store, settings } = runtime;
  return {
    list: ({ limit = 100, after } = {}) => store.deadLetters.list({ limit, ...(after && { after }) }),
    count: () => store.deadLetters.count(),
    discard: (key) => store.deadLetters.discard(key),
    async replay(key) {
      const isRequeued = await store.deadLetters.requeue(key);
      // Succeeds also for a message whose earlier replay crashed: it is claimable when its lease expires.
      const claim = await store.claimOne(key, settings.claimOptions);
      if (claim === null) return isRequeued ? skip(key) : "unknown";
      const { kind } = await processClaim(runtime, claim, ONCE);
      return kind === "done" ? "done" : kind === "running" ? "skipped" : "failed";
    },
  };

  /** Without a worker no process would ever claim it from the inbox. */
  async function skip(key: MessageKey): Promise<"skipped"> {
    await store.deadLetters.undoRequeue(key);
    return "skipped";
  }
}
