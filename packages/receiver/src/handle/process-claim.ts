// A message that this process holds: handled and marked as done, or failed. The same for a delivery in lease mode, for
// what comes from the inbox, and for a dead letter brought back.

import { HandlerTimeout, PermanentFailure } from "../errors.ts";
import type { WebhookEvent } from "../model.ts";
import { parseStored } from "../request/parse-events.ts";
import type { Outcome } from "../respond.ts";
import { contextWithoutTx, type Runtime } from "../runtime.ts";
import type { Claim } from "../store.ts";
import { callHandler, callHandlerInTransaction } from "./call-handler.ts";
import { decideFailure, type FailurePolicy } from "./decide-failure.ts";
import { renewLeaseDuring } from "./renew-lease.ts";

/** Throws only when the store does. `event`: when it is parsed already. */
export async function processClaim<Tx>(
  runtime: Runtime<Tx>,
  claim: Claim,
  policy: FailurePolicy,
  event?: WebhookEvent,
): Promise<Outcome> {
  const { store, settings, report } = runtime;
  const { leaseMs } = settings.terms;
  const result = await renewLeaseDuring(store, claim, leaseMs, (signal) =>
    handleClaim(runtime, claim, policy, signal, event),
  );
  // Somebody else has it now, and only what they make of it counts.
  if (result.kind === "worked")
    return result.isDone ? { kind: "done" } : { kind: "running", retryAfterMs: leaseMs };

  const { message, tries } = claim;
  const { failure, outcome } = decideFailure(result.error, tries, policy);
  // It may still be at it: whoever is next waits for the end of the lease, which counts as the failure.
  if (result.mayStillRun && failure.next.kind !== "dead") {
    report.failure(message, result.error, tries + 1);
    return outcome;
  }
  try {
    if (!(await store.fail(claim, failure))) return { kind: "running", retryAfterMs: leaseMs };
  } finally {
    report.failure(message, result.error, tries + 1);
  }
  if (failure.next.kind === "dead") report.dead(message, result.error, tries + 1);
  return outcome;
}

type Handled =
  | { readonly kind: "worked"; readonly isDone: boolean }
  | { readonly kind: "threw"; readonly error: unknown; readonly mayStillRun: boolean };

async function handleClaim<Tx>(
  runtime: Runtime<Tx>,
  claim: Claim,
  { afterTries }: FailurePolicy,
  signal: AbortSignal,
  parsed: WebhookEvent | undefined,
): Promise<Handled> {
  const { store, settings, handlers, report } = runtime;
  const { message, tries } = claim;
  const transactions = settings.mode === "lease" ? null : store.transactions;
  const turn = { timeoutMs: settings.handlerTimeoutMs, leaseLost: signal };
  try {
    if (afterTries !== null && tries >= afterTries) {
      throw new PermanentFailure("It was never handled to its end: each time the lease ended first.");
    }
    const event = parsed ?? (await parseStored(message, runtime.sources, runtime.schemas));
    const handler = handlers.find(event);
    if (handler === null) report.unhandled(message);
    if (transactions !== null && handler !== null) {
      const isDone = await transactions.finish(claim, (tx) =>
        callHandlerInTransaction(tx, tries, handler, event, turn),
      );
      return { kind: "worked", isDone };
    }
    const context = (aborted: AbortSignal) => contextWithoutTx<Tx>(aborted, tries);
    if (handler !== null) await callHandler(handler, event, { ...turn, context });
  } catch (error) {
    // What a transaction holds is undone by now.
    return { kind: "threw", error, mayStillRun: transactions === null && error instanceof HandlerTimeout };
  }
  return { kind: "worked", isDone: await store.complete(claim) };
}
