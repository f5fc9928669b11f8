// Handles a claimed message and marks it as done or failed. Used for deliveries in lease mode, for messages from the inbox
// and for replayed dead letters.

import { HandlerTimeout, PermanentFailure } from "../errors.ts";
import type { WebhookEvent } from "../model.ts";
import { parseStored } from "../request/parse-events.ts";
import type { Outcome } from "../respond.ts";
import type { Runtime } from "../runtime.ts";
import type { Claim } from "../store.ts";
import { callHandler, callHandlerInTransaction } from "./call-handler.ts";
import { decideFailure, type FailurePolicy } from "./decide-failure.ts";
import { renewLeaseDuring } from "./renew-lease.ts";

/** Throws only if the store does. `event` is given if it is already parsed. */
export async function processClaim<Tx>(
  runtime: Runtime<Tx>,
  claim: Claim,
  policy: FailurePolicy,
  event?: WebhookEvent,
): Promise<Outcome> {
  const { store, settings, report } = runtime;
  const { leaseMs } = settings.claimOptions;
  const result = await renewLeaseDuring(store, claim, leaseMs, (signal) =>
    handleClaim(runtime, claim, policy, signal, event),
  );
  // Another process has the message now, and only its result counts.
  if (result.kind === "worked")
    return result.isDone ? { kind: "done" } : { kind: "running", retryAfterMs: leaseMs };

  const { message, failures } = claim;
  const { failure, outcome } = decideFailure(result.error, failures, policy);
  // The handler may still be running: the next one waits for the lease to expire, which counts as the failure.
  if (result.mayStillRun && failure.next.kind !== "dead") {
    report.failure(message, result.error, failures + 1);
    return outcome;
  }
  try {
    if (!(await store.fail(claim, failure))) return { kind: "running", retryAfterMs: leaseMs };
  } finally {
    report.failure(message, result.error, failures + 1);
  }
  if (failure.next.kind === "dead") report.dead(message, result.error, failures + 1);
  return outcome;
}

type Handled =
  | { readonly kind: "worked"; readonly isDone: boolean }
  | { readonly kind: "threw"; readonly error: unknown; readonly mayStillRun: boolean };

async function handleClaim<Tx>(
  runtime: Runtime<Tx>,
  claim: Claim,
  { afterFailures }: FailurePolicy,
  signal: AbortSignal,
  parsed: WebhookEvent | undefined,
): Promise<Handled> {
  const { store, settings, handlers, report } = runtime;
  const { message, failures } = claim;
  const transactions = settings.mode === "lease" ? null : store.transactions;
  try {
    if (afterFailures !== null && failures >= afterFailures) {
      throw new PermanentFailure("It was never handled completely: each time its lease expired first.");
    }
    const event = parsed ?? (await parseStored(message, runtime.sources, runtime.schemas));
    const handler = handlers.find(event);
    if (handler === null) {
      report.unhandled(message);
    } else {
      const call = { handler, event, failures, timeoutMs: settings.handlerTimeoutMs, leaseLost: signal };
      if (transactions !== null) {
        const isDone = await transactions.finish(claim, (tx) => callHandlerInTransaction(tx, call));
        return { kind: "worked", isDone };
      }
      await callHandler(call);
    }
  } catch (error) {
    // A transaction has been rolled back by now.
    return { kind: "threw", error, mayStillRun: transactions === null && error instanceof HandlerTimeout };
  }
  return { kind: "worked", isDone: await store.complete(claim) };
}
