// Handles one message of a delivery in the receiver's mode.
import type { InboxWorker } from "../inbox/inbox-worker.ts";
import type { Message } from "../model.ts";
import type { HandleMessage } from "../receive.ts";
import type { Received } from "../request/parse-events.ts";
import type { Outcome } from "../respond.ts";
import type { Runtime } from "../runtime.ts";
import { type AcceptResult, type ClaimResult, isOrdered, type Transactions } from "../store.ts";
import { callHandlerInTransaction } from "./call-handler.ts";
import { decideFailure, type FailurePolicy } from "./decide-failure.ts";
import { processClaim } from "./process-claim.ts";

export function handlingFor<Tx>(runtime: Runtime<Tx>, worker: InboxWorker<Tx>): HandleMessage {
  const { settings, store } = runtime;
  const { transactions } = store;
  if (settings.mode === "inbox") return (received) => acceptIntoInbox(runtime, received, worker);
  if (settings.mode === "transactional" && transactions !== null) {
    return (received) => handleInTransaction(runtime, transactions, received);
  }
  return (received) => handleUnderLease(runtime, received);
}

/** The sender retries. */
function policyOf<Tx>({ settings }: Runtime<Tx>): FailurePolicy {
  return { afterFailures: settings.afterFailures, delayMs: null };
}

/** Mode inbox: store, acknowledge, handle later. For impatient senders and slow handlers. */
async function acceptIntoInbox<Tx>(
  runtime: Runtime<Tx>,
  { message }: Received,
  worker: InboxWorker<Tx>,
): Promise<Outcome> {
  const result = await runtime.store.accept(message, runtime.settings.claimOptions);
  if (result.kind !== "accepted") return outcomeOf(result, message, runtime);
  worker.wake();
  return result;
}

/**
 * Mode lease: for effects outside the store's transactions. After a crash the message is handled again once the lease expires, so
 * effects may repeat.
 */
async function handleUnderLease<Tx>(runtime: Runtime<Tx>, { message, event }: Received): Promise<Outcome> {
  const { settings, handlers, store, report } = runtime;
  if (handlers.find(event) === null && !isOrdered(message, settings.claimOptions)) {
    report.unhandled(message);
    return { kind: "ignored" };
  }
  const result = await store.claim(message, settings.claimOptions);
  if (result.kind !== "claimed") return outcomeOf(result, message, runtime);
  return processClaim(runtime, result.claim, policyOf(runtime), event);
}

/** Mode transactional: claim, the handler's writes and the completion are one transaction. A crash leaves all of it or nothing. */
async function handleInTransaction<Tx>(
  runtime: Runtime<Tx>,
  transactions: Transactions<Tx>,
  { message, event }: Received,
): Promise<Outcome> {
  const { settings, handlers, report } = runtime;
  const handler = handlers.find(event);
  if (handler === null) report.unhandled(message);
  if (handler === null && !isOrdered(message, settings.claimOptions)) return { kind: "ignored" };
  let begun: { readonly failures: number } | null = null;
  try {
    const result = await transactions.run(message, settings.claimOptions, async (tx, { failures }) => {
      begun = { failures };
      if (handler === null) return;
      const call = { handler, event, failures, timeoutMs: settings.handlerTimeoutMs, leaseLost: null };
      await callHandlerInTransaction(tx, call);
    });
    return result.kind === "worked" ? { kind: "done" } : outcomeOf(result, message, runtime);
  } catch (error) {
    // Before the handler ran, the store failed. After it, a failed commit is the handler's fault: its writes violated a constraint.
    if (begun === null) throw error;
    const { failures } = begun as { readonly failures: number };
    const { failure, outcome } = decideFailure(error, failures, policyOf(runtime));
    const isRecorded = await transactions
      .recordFailure(message, failure, settings.claimOptions)
      .finally(() => report.failure(message, error, failures + 1));
    // It was completed or claimed by another process since; the next delivery gets the outcome.
    if (!isRecorded) return { kind: "running", retryAfterMs: 1_000 };
    if (failure.next.kind === "dead") report.dead(message, error, failures + 1);
    return outcome;
  }
}

type NotFree = Exclude<ClaimResult | AcceptResult, { kind: "claimed" | "accepted" }>;

/** The outcome of a delivery whose message could not be claimed or accepted. */
function outcomeOf<Tx>(result: NotFree, message: Message, { settings, report }: Runtime<Tx>): Outcome {
  switch (result.kind) {
    case "done":
    case "waiting":
    case "dead":
      return { kind: "duplicate" };
    case "other_body":
      report.conflict(message);
      return result;
    case "stale":
      report.stale(message);
      return result;
    case "gap":
      return {
        kind: "gap",
        retryAfterMs: untilNextTry(result.retryAfterMs, settings.claimOptions.order?.gapWaitMs ?? 0),
      };
    default:
      return result;
  }
}

/** Doubles from an eighth of the wait: the missing message may come soon, and senders have few attempts. */
function untilNextTry(leftMs: number, gapWaitMs: number): number {
  return Math.min(leftMs, Math.max(gapWaitMs / 8, gapWaitMs - leftMs));
}
