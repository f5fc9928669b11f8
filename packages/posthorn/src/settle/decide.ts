// Decides what follows an attempt. Pure: the input is the row and the outcome, so all workers decide the same, and no
// retry state is in memory.
//
//                 claim                     2xx
//   ┌─────────┐ ──────────► ┌───────────┐ ──────────────────────► ┌─────────┐
//   │ pending │             │ in_flight │                         │ success │
//   └─────────┘ ◄────────── └───────────┘                         └─────────┘
//      ▲   ▲     reaped:      │   ▲    │ permanent, 410,
//      │   │     worker died  │   │    │ no attempts or time left ┌──────┐
//      │   │                  │   │    └─────────────────────────► │ dead │
//      │   │       transient  ▼   │ claim, at next_retry_at        └──────┘
//      │   │                ┌────────┐                                │
//      │   └─ manual retry ─│ failed │                                │
//      │                    └────────┘                                │
//      └───────────────────── manual retry: a fresh budget ───────────┘
//
// success and dead are final except for a manual retry (or a replay of a success).
import { maxAttempts } from "@posthorn/wire";
import type {
  AttemptOutcome,
  ClaimedDelivery,
  DeadReason,
  Decision,
  OutcomeClass,
  Target,
} from "../model.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { nextDelayMs } from "./retry-schedule.ts";

export function decide(
  delivery: ClaimedDelivery,
  outcome: AttemptOutcome,
  outcomeClass: OutcomeClass,
  target: Pick<Target, "retryPolicy">,
  random: () => number = Math.random,
  now: number = Date.now(),
): Decision {
  switch (outcomeClass) {
    case "delivered":
      return delivered();
    case "gone":
      return dead("gone");
    case "permanent":
      return dead(permanentReason(outcome));
    case "later":
      return postpone(delivery, outcome, target, now) ?? retry(delivery, outcome, target, random, now);
    case "transient":
      return retry(delivery, outcome, target, random, now);
  }
}

function retry(
  delivery: ClaimedDelivery,
  outcome: AttemptOutcome,
  { retryPolicy }: Pick<Target, "retryPolicy">,
  random: () => number,
  now: number,
): Decision {
  const failures = delivery.failures + 1;
  const retryAfterMs = askedDelayMs(outcome, now);
  const ageMs = now - delivery.scheduleStartedMs;
  const delayMs = nextDelayMs(retryPolicy, failures, { random, retryAfterMs, ageMs });
  if (delayMs !== null) return retryAfter(delayMs);
  return dead(failures >= maxAttempts(retryPolicy) ? "attempts_exhausted" : "too_old");
}

/**
 * Returns null if the response counts as a failure. A receiver may postpone a delivery for a day; without a limit it
 * could postpone it forever.
 */
function postpone(
  delivery: ClaimedDelivery,
  outcome: AttemptOutcome,
  { retryPolicy }: Pick<Target, "retryPolicy">,
  now: number,
): Decision | null {
  const askedMs = askedDelayMs(outcome, now);
  const ageMs = now - delivery.scheduleStartedMs;
  const longestMs = Math.min(retryPolicy.maxAgeMs ?? MAX_POSTPONED_MS, MAX_POSTPONED_MS);
  if (askedMs === undefined || ageMs + askedMs > longestMs) return null;
  return later(Math.max(askedMs, shortestLaterMs(delivery.attempts)));
}

const DELIVERED: Decision = { kind: "delivered" };

export function delivered(): Decision {
  return DELIVERED;
}

export function retryAfter(delayMs: number): Decision {
  return { kind: "retry", delayMs, isFailure: true };
}

/** Records the attempt without counting it against the retry policy. */
export function later(delayMs: number): Decision {
  return { kind: "retry", delayMs, isFailure: false };
}

/** Only a 410 disables the endpoint. */
export function dead(reason: DeadReason): Decision {
  return { kind: "dead", reason, disableEndpoint: reason === "gone" };
}

const MAX_POSTPONED_MS = 86_400_000;

/** Doubles with every attempt: nothing else limits the requests to a receiver that returns `Retry-After: 0` for a day. */
function shortestLaterMs(attempts: number): number {
  return Math.min(1_000 * 2 ** Math.min(attempts, 30), 60_000);
}

function askedDelayMs(outcome: AttemptOutcome, now: number): number | undefined {
  if (outcome.kind !== "responded") return undefined;
  if (![409, 429, 502, 503, 504].includes(outcome.statusCode)) return undefined;
  return parseRetryAfter(outcome.retryAfter, now);
}

function permanentReason(outcome: AttemptOutcome): DeadReason {
  if (outcome.kind === "responded") return outcome.statusCode < 400 ? "redirect" : "rejected";
  const { error } = outcome;
  return error === "invalid_request" || error === "lease_expired" ? error : "blocked_address";
}
