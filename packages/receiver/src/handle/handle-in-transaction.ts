// Mode transactional: claim, the handler's writes and the completion are one transaction. A crash leaves all of it or nothing.

import type { Received } from "../request/parse-events.ts";
import type { Outcome } from "../respond.ts";
import type { Runtime } from "../runtime.ts";
import type { Transactions } from "../store.ts";
import { callHandlerInTransaction } from "./call-handler.ts";
import { decideFailure, type FailurePolicy } from "./decide-failure.ts";
import { isOrdered } from "./is-ordered.ts";
import { outcomeOf } from "./outcome-of.ts";

export async function handleInTransaction<Tx>(
  runtime: Runtime<Tx>,
  transactions: Transactions<Tx>,
  { message, event }: Received,
): Promise<Outcome> {
  const { settings, handlers, report } = runtime;
  const handler = handlers.find(event);
  if (handler === null) report.unhandled(message);
  if (handler === null && !isOrdered(message, settings.terms)) return { kind: "ignored" };
  let begun: { readonly tries: number } | null = null;
  try {
    const result = await transactions.run(message, settings.terms, async (tx, { tries }) => {
      begun = { tries };
      const call = { timeoutMs: settings.handlerTimeoutMs, leaseLost: null };
      if (handler !== null) await callHandlerInTransaction(tx, tries, handler, event, call);
    });
    return result.kind === "worked" ? { kind: "done" } : outcomeOf(result, message, report);
  } catch (error) {
    // Before the handler ran, the store failed. After it, a failed commit is the handler's fault: its writes violated a constraint.
    if (begun === null) throw error;
    const { tries } = begun as { readonly tries: number };
    const policy: FailurePolicy = { afterTries: settings.afterTries, delayMs: null };
    const { failure, outcome } = decideFailure(error, tries, policy);
    const isRecorded = await transactions
      .recordFailure(message, failure, settings.terms)
      .finally(() => report.failure(message, error, tries + 1));
    // It was completed or claimed by another process since; the next delivery gets the outcome.
    if (!isRecorded) return { kind: "running", retryAfterMs: 1_000 };
    if (failure.next.kind === "dead") report.dead(message, error, tries + 1);
    return outcome;
  }
}
