// An endpoint's health, derived from its attempts: its circuit, its throttle, and whether it has to be disabled.
// Pure; the lane's owner keeps the result in memory and writes it when it changes.
//
//               N failures in a row, or most attempts of the last minute failed
//   ┌────────┐ ─────────────────────────────────────────────────► ┌──────┐
//   │ closed │                                                    │ open │  nothing is sent until probe_at
//   └────────┘ ◄───────────────┐                 ┌─────────────── └──────┘
//                              │                 │ probe_at, or a late     ▲
//        as many as the cap    │                 │ success from before     │ any failure:
//        allows have succeeded │                 ▼                         │ twice the pause, or the
//                              │   ┌─────────────────────────────┐         │
//                              └── │ half_open: 1, 2, 4, … in    │ ────────┘ first one after a success
//                                  │ flight, twice as many after │
//                                  │ each success                │
//                                  └─────────────────────────────┘
//
// A throttle (429, 502, 503, 504) is independent of the circuit: nothing is sent until it ends.
import type {
  AttemptOutcome,
  CircuitState,
  DisableCause,
  EndpointHealth,
  OutcomeClass,
  RecentFailures,
  RecordedHealth,
  Target,
} from "../model.ts";
import { parseRetryAfter } from "./retry-after.ts";

/** The endpoint's settings of these names. */
export type HealthRules = Pick<Target, "circuitBreaker" | "disableAfter">;

/** No failure since the last success. A single object, so that a healthy lane is recognised by identity. */
export const HEALTHY: EndpointHealth = {
  consecutiveFailures: 0,
  failingSinceMs: null,
  lastError: null,
  trips: 0,
  probeAtMs: null,
  allowance: Number.POSITIVE_INFINITY,
  throttles: 0,
  throttledUntilMs: null,
  askedUntilMs: null,
  recentFailures: null,
};

/** A circuit that was not closed is half-open for its new owner. */
export function restoreHealth(recorded: RecordedHealth | null): EndpointHealth {
  if (recorded === null) return HEALTHY;
  const allowance = recorded.probeAtMs === null ? HEALTHY.allowance : 1;
  return { ...recorded, allowance, askedUntilMs: recorded.throttledUntilMs };
}

export function circuitOf({ probeAtMs }: Pick<EndpointHealth, "probeAtMs">, nowMs: number): CircuitState {
  if (probeAtMs === null) return "closed";
  return nowMs < probeAtMs ? "open" : "half_open";
}

/** Returns the time before which nothing is sent; 0 if the endpoint is not blocked. */
export function blockedUntilMs({ probeAtMs, throttledUntilMs }: EndpointHealth): number {
  return Math.max(probeAtMs ?? 0, throttledUntilMs ?? 0);
}

/** The effect of one attempt on the endpoint's health, independent of its effect on the delivery. */
export type HealthSignal =
  | { readonly kind: "success" }
  /** A request that was not sent, or a postponed delivery, reveals nothing about the endpoint. */
  | { readonly kind: "neutral" }
  /** The receiver asks for fewer requests. `askedMs` is null if it gave no duration. */
  | { readonly kind: "throttled"; readonly askedMs: number | null; readonly error: string }
  | {
      readonly kind: "failure";
      readonly askedMs: number | null;
      readonly error: string;
      readonly isBusy: boolean;
    };

const SUCCESS: HealthSignal = { kind: "success" };
const NEUTRAL: HealthSignal = { kind: "neutral" };

export function healthSignal(
  outcome: AttemptOutcome,
  outcomeClass: OutcomeClass,
  nowMs: number,
): HealthSignal {
  if (outcomeClass === "delivered") return SUCCESS;
  if (outcomeClass === "later") return NEUTRAL;
  if (outcome.kind === "failed") {
    // a key that is missing in this process reveals nothing about the endpoint
    if (outcome.error === "not_signed" || outcome.error === "lease_expired") return NEUTRAL;
    return { kind: "failure", askedMs: null, error: outcome.error, isBusy: false };
  }
  const askedMs = parseRetryAfter(outcome.retryAfter, nowMs) ?? null;
  const error = `HTTP ${outcome.statusCode}`;
  if (outcome.statusCode === 429) return { kind: "throttled", askedMs, error };
  // load balancers return these for an overloaded receiver (Standard Webhooks 1.0.0: throttle)
  const isBusy = [502, 503, 504].includes(outcome.statusCode);
  return { kind: "failure", askedMs: isBusy ? askedMs : null, error, isBusy };
}

export interface HealthContext {
  readonly rules: HealthRules;
  readonly window: FailureWindow;
  readonly maxInFlight: number;
  readonly nowMs: number;
  readonly random?: () => number;
}

/** Returns the same object if nothing changed. */
export function afterAttempt(
  health: EndpointHealth,
  signal: HealthSignal,
  context: HealthContext,
): EndpointHealth {
  switch (signal.kind) {
    case "neutral":
      return health;
    case "success":
      return afterSuccess(health, context);
    case "throttled":
      return throttle(
        { ...health, ...failing(health, signal.error, context.nowMs) },
        { askedMs: signal.askedMs, firstMs: FIRST_PAUSE_MS.tooMany },
        context.nowMs,
      );
    case "failure":
      return afterFailure(health, signal, context);
  }
}

function afterSuccess(health: EndpointHealth, { window, maxInFlight, nowMs }: HealthContext): EndpointHealth {
  window.note(false, nowMs);
  if (health === HEALTHY) return HEALTHY;
  const circuit = circuitOf(health, nowMs);
  const recentFailures = withoutOld(health.recentFailures, nowMs);
  if (isHealthyNow(health) && recentFailures === health.recentFailures) return health;
  const healthy = withRecent(healthyUnlessAsked(health, nowMs), recentFailures);
  if (circuit === "closed") return healthy;
  // sent before the circuit opened: the receiver is reachable, so the probe need not wait
  if (circuit === "open") return { ...healthy, probeAtMs: nowMs, allowance: 1 };
  const allowance = health.allowance * 2;
  if (allowance > maxInFlight) return healthy;
  return { ...healthy, probeAtMs: health.probeAtMs, allowance };
}

/** Only failures before the last success are recorded. */
function isHealthyNow({ failingSinceMs, probeAtMs, throttledUntilMs }: EndpointHealth): boolean {
  return failingSinceMs === null && probeAtMs === null && throttledUntilMs === null;
}

function withRecent(health: EndpointHealth, recentFailures: RecentFailures | null): EndpointHealth {
  return recentFailures === null ? health : { ...health, recentFailures };
}

const MINUTE_MS = 60_000;
const MINUTES_OF_HOUR = 60;

/** Returns the same list if none is older than an hour. */
function withoutOld(recent: RecentFailures | null, nowMs: number): RecentFailures | null {
  const oldest = Math.floor(nowMs / MINUTE_MS) - MINUTES_OF_HOUR;
  if (recent === null || (recent[0]?.[0] ?? 0) > oldest) return recent;
  const kept = recent.filter(([minute]) => minute > oldest);
  return kept.length === 0 ? null : kept;
}

function withFailure(recent: RecentFailures | null, nowMs: number): RecentFailures {
  const minute = Math.floor(nowMs / MINUTE_MS);
  const kept = withoutOld(recent, nowMs) ?? [];
  const [newest, failures] = kept.at(-1) ?? [0, 0];
  // the clock of another owner may have been ahead
  if (newest >= minute) return [...kept.slice(0, -1), [newest, failures + 1]];
  return [...kept, [minute, 1]];
}

function countOf(recent: RecentFailures | null): number {
  return (recent ?? []).reduce((sum, [, failures]) => sum + failures, 0);
}

/** A success of an attempt that began before the receiver asked for a pause does not end the pause. */
function healthyUnlessAsked({ throttles, askedUntilMs }: EndpointHealth, nowMs: number): EndpointHealth {
  if (askedUntilMs === null || askedUntilMs <= nowMs) return HEALTHY;
  return { ...HEALTHY, throttles, throttledUntilMs: askedUntilMs, askedUntilMs };
}

function afterFailure(
  before: EndpointHealth,
  signal: Extract<HealthSignal, { kind: "failure" }>,
  context: HealthContext,
): EndpointHealth {
  const { rules, window, nowMs } = context;
  window.note(true, nowMs);
  const counted: EndpointHealth = {
    ...before,
    ...failing(before, signal.error, nowMs),
    consecutiveFailures: before.consecutiveFailures + 1,
    recentFailures:
      rules.circuitBreaker.failuresPerHour === 0 ? null : withFailure(before.recentFailures, nowMs),
  };
  const pause = { askedMs: signal.askedMs, firstMs: FIRST_PAUSE_MS.busy };
  const health = signal.isBusy ? throttle(counted, pause, nowMs) : counted;
  const circuit = circuitOf(health, nowMs);
  const opens =
    circuit === "half_open" ||
    (circuit === "closed" && isFailing(health, window, rules.circuitBreaker, nowMs));
  return opens ? open(health, context) : health;
}

function failing(health: EndpointHealth, error: string, nowMs: number): Partial<EndpointHealth> {
  return { failingSinceMs: health.failingSinceMs ?? nowMs, lastError: error };
}

function isFailing(
  { consecutiveFailures, recentFailures }: EndpointHealth,
  window: FailureWindow,
  { failures, failurePercent, failuresPerHour }: Target["circuitBreaker"],
  nowMs: number,
): boolean {
  if (failuresPerHour > 0 && countOf(recentFailures) >= failuresPerHour) return true;
  if (failures === 0) return false;
  if (consecutiveFailures >= failures) return true;
  return failurePercent > 0 && window.failedPercent(nowMs) >= failurePercent;
}

function open(health: EndpointHealth, { rules, nowMs, random = Math.random }: HealthContext): EndpointHealth {
  const firstMs = rules.circuitBreaker.pauseMs;
  const longestMs = Math.max(LONGEST_PAUSE_MS, firstMs);
  const pauseMs = Math.min(firstMs * 2 ** Math.min(health.trips, 30), longestMs);
  // ten percent of jitter, so that the endpoints of one dead host are not all probed at once
  const probeAtMs = nowMs + Math.round(pauseMs * (0.9 + 0.2 * random()));
  return { ...health, trips: health.trips + 1, probeAtMs, allowance: 1, recentFailures: null };
}

const LONGEST_PAUSE_MS = 300_000;

function throttle(
  health: EndpointHealth,
  { askedMs, firstMs }: { readonly askedMs: number | null; readonly firstMs: number },
  nowMs: number,
): EndpointHealth {
  const { throttles, throttledUntilMs } = health;
  // in flight when the pause began: several responses of one moment count once
  const isLate = throttledUntilMs !== null && nowMs < throttledUntilMs;
  if (isLate && askedMs === null) return health;
  const ownMs = Math.min(firstMs * 2 ** Math.min(throttles, 30), LONGEST_OWN_PAUSE_MS);
  const until = nowMs + Math.min(askedMs ?? ownMs, MAX_THROTTLE_MS);
  return {
    ...health,
    throttles: throttles + 1,
    throttledUntilMs: Math.max(until, throttledUntilMs ?? 0),
    askedUntilMs: askedMs === null ? health.askedUntilMs : Math.max(until, health.askedUntilMs ?? 0),
  };
}

/** The first pause without Retry-After. A 429 asks for fewer requests; a single 503 may be a restart behind a load balancer. */
const FIRST_PAUSE_MS = { tooMany: 1_000, busy: 100 };
const LONGEST_OWN_PAUSE_MS = 60_000;
/** One delivery may be postponed for a day; the endpoint as a whole is blocked for at most an hour. */
export const MAX_THROTTLE_MS = 3_600_000;

/** Returns why the endpoint has to be disabled, or null. Called after every failure and throttle. */
export function disableCause(
  health: EndpointHealth,
  nowMs: number,
  { disableAfter }: Pick<HealthRules, "disableAfter">,
): DisableCause | null {
  const { consecutiveFailures, throttles, failingSinceMs } = health;
  const { failures, days } = disableAfter;
  if (failures > 0 && consecutiveFailures >= failures) return "failures";
  if (days === 0 || failingSinceMs === null) return null;
  const isLong = nowMs - failingSinceMs >= days * DAY_MS;
  return isLong && consecutiveFailures + throttles >= MIN_ATTEMPTS_OVER_DAYS ? "no_success" : null;
}

const DAY_MS = 86_400_000;
/** Fewer attempts in days reveal too little: two failed events a week are not a week of failures. */
const MIN_ATTEMPTS_OVER_DAYS = 10;

const HALF_MS = 30_000;
/** With fewer attempts the percentage is not significant. */
const MIN_WINDOW_ATTEMPTS = 20;

/**
 * The percentage of failed attempts over the last minute, in two halves of which the older is dropped every 30 s. In
 * memory only: a new owner starts with an empty window.
 */
export class FailureWindow {
  #startedAtMs = 0;
  #current = { attempts: 0, failures: 0 };
  #previous = { attempts: 0, failures: 0 };

  note(isFailure: boolean, nowMs: number): void {
    this.#advance(nowMs);
    this.#current.attempts += 1;
    if (isFailure) this.#current.failures += 1;
  }

  /** Returns 0 while there are too few attempts. */
  failedPercent(nowMs: number): number {
    this.#advance(nowMs);
    const attempts = this.#current.attempts + this.#previous.attempts;
    if (attempts < MIN_WINDOW_ATTEMPTS) return 0;
    return ((this.#current.failures + this.#previous.failures) / attempts) * 100;
  }

  #advance(nowMs: number): void {
    const ageMs = nowMs - this.#startedAtMs;
    if (ageMs >= 0 && ageMs < HALF_MS) return;
    this.#previous = ageMs < 2 * HALF_MS && ageMs >= 0 ? this.#current : { attempts: 0, failures: 0 };
    this.#current = { attempts: 0, failures: 0 };
    this.#startedAtMs = nowMs;
  }
}
