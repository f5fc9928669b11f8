// What becomes of a delivery after an attempt. Pure: all it knows comes from the row and the outcome, so any worker
// decides alike, and nothing about retries lives in memory.
//
//                 claim                     2xx
//   ┌─────────┐ ──────────► ┌───────────┐ ──────────────────────► ┌─────────┐
//   │ pending │             │ in_flight │                         │ success │
//   └─────────┘ ◄────────── └───────────┘ ──────────────────────► └─────────┘
//      ▲   ▲     burial:      │   ▲    │   permanent, 410,
//      │   │     worker died  │   │    │   no tries or time left   ┌──────┐
//      │   │                  │   │    └─────────────────────────► │ dead │
//      │   │       transient  ▼   │ claim, at next_retry_at        └──────┘
//      │   │                ┌────────┐                                │
//      │   └─ manual retry ─│ failed │                                │
//      │                    └────────┘                                │
//      └───────────────────── manual retry: a fresh budget ───────────┘
//
// success and dead are final but for the manual edge (a replay of a success takes it too).
import { classify } from "../attempt/classify.ts";
import type { AttemptOutcome, ClaimedDelivery, DeadReason, Decision, Target } from "../model.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { maxAttempts, nextDelayMs } from "./retry-schedule.ts";

export function decide(
  delivery: ClaimedDelivery,
  outcome: AttemptOutcome,
  target: Pick<Target, "retryPolicy" | "retryOn">,
  random: () => number = Math.random,
  now: number = Date.now(),
): Decision {
  switch (classify(outcome, target.retryOn)) {
    case "delivered":
      return delivered();
    case "gone":
      return dead("gone");
    case "permanent":
      return dead(permanentReason(outcome));
    case "transient":
      return decideRetry(delivery, outcome, target, random, now);
  }
}

export function delivered(): Decision {
  return { kind: "delivered" };
}

export function retryAfter(delayMs: number): Decision {
  return { kind: "retry", delayMs };
}

/** Only a receiver that says 410 asks never to be called again. */
export function dead(reason: DeadReason): Decision {
  return { kind: "dead", reason, disableEndpoint: reason === "gone" };
}

function decideRetry(
  delivery: ClaimedDelivery,
  outcome: AttemptOutcome,
  { retryPolicy }: Pick<Target, "retryPolicy">,
  random: () => number,
  now: number,
): Decision {
  const failures = delivery.failures + 1;
  const delayMs = nextDelayMs(retryPolicy, failures, {
    random,
    retryAfterMs: askedDelayMs(outcome, now),
    ageMs: delivery.ageMs + outcome.durationMs,
  });
  if (delayMs !== null) return retryAfter(delayMs);
  return dead(failures >= maxAttempts(retryPolicy) ? "attempts_exhausted" : "too_old");
}

function askedDelayMs(outcome: AttemptOutcome, now: number): number | undefined {
  if (outcome.kind !== "answered") return undefined;
  if (outcome.statusCode !== 429 && outcome.statusCode !== 503) return undefined;
  return parseRetryAfter(outcome.retryAfter, now);
}

function permanentReason(outcome: AttemptOutcome): DeadReason {
  if (outcome.kind === "answered") return outcome.statusCode < 400 ? "redirect" : "rejected";
  return outcome.error === "invalid_request" ? "invalid_request" : "blocked_address";
}
