// An endpoint's rate limit as a token bucket with at most one second of tokens, or one token. It starts empty,
// because the previous owner may have sent a moment ago: so the limit holds across a change of owner.
import type { Target } from "../model.ts";

export class RateBucket {
  readonly perSecond: number;
  #tokens = 0;
  #filledAt: number;

  readonly burst: number;

  constructor(perSecond: number, now: number, burst = perSecond) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.#filledAt = now;
  }

  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until there is a token; 0 if there is one. */
  waitMs(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.perSecond) * 1_000);
  }

  #fill(now: number): void {
    const gained = ((now - this.#filledAt) / 1_000) * this.perSecond;
    this.#tokens = Math.min(this.burst, this.#tokens + gained);
    this.#filledAt = now;
  }
}

/** One second more than a minute, because a receiver counts requests when they arrive. */
const SECONDS_OF_A_MINUTE = 61;

/**
 * Returns the lower of the configured rate and the rate the receiver allows, null without either. The latter is per minute:
 * spread evenly it holds in every minute, whereas bursts of one second would exceed it by one burst.
 */
export function rateOf({ rateLimit, allowedPerMinute }: Pick<Target, "rateLimit" | "allowedPerMinute">): {
  readonly perSecond: number;
  readonly burst: number;
} | null {
  const allowed =
    allowedPerMinute === null ? Number.POSITIVE_INFINITY : allowedPerMinute / SECONDS_OF_A_MINUTE;
  if (allowed < (rateLimit ?? Number.POSITIVE_INFINITY)) return { perSecond: allowed, burst: 1 };
  return rateLimit === null ? null : { perSecond: rateLimit, burst: rateLimit };
}
