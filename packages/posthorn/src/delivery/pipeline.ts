// One attempt of a delivery, from claim to settlement:
//
//   ClaimedDelivery ─► (its destination) ─► AttemptOutcome ─► Decision ─► Settlement
//
// Deliveries are claimed in fan-out/ and here; settlements are written in settle/.
import type { AttemptServices } from "../destinations/destination.ts";
import type { ClaimedDelivery, Settlement, Target } from "../model.ts";
import type { Observer } from "../observe/observer.ts";
import { endAttempt } from "../observe/spans.ts";
import { isTraceparent } from "../observe/tracing.ts";
import { decide } from "../settle/decide.ts";

export interface Stages extends AttemptServices {
  /** Returns the database's time. */
  readonly nowMs: () => number;
  readonly observer: Observer;
}

/** Returns null if the attempt was aborted because this process stops: it is recorded when the worker is reaped. */
export async function deliver(
  delivery: ClaimedDelivery,
  target: Target,
  stages: Stages,
): Promise<Settlement | null> {
  const startedAt = new Date(stages.nowMs());
  const span = stages.observer.spans?.attempting(delivery) ?? null;
  const traceparent = validTraceparent(span === null ? delivery.event.traceparent : span.traceparent);
  const outcome = await target.destination.attempt(delivery, target, { startedAt, traceparent }, stages);
  if (span !== null) endAttempt(span, outcome);
  if (outcome.kind === "failed" && outcome.error === "unknown") return null;
  const outcomeClass = target.destination.interpret(outcome, target.retryOn);
  const decision = decide(delivery, outcome, outcomeClass, target, Math.random, stages.nowMs());
  return { delivery, traceparent, startedAt, outcome, outcomeClass, decision };
}

/** An event published by SQL may have any text as its traceparent, and an invalid header would fail the delivery. */
function validTraceparent(traceparent: string | undefined): string | undefined {
  return isTraceparent(traceparent) ? traceparent : undefined;
}
