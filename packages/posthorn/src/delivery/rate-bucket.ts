// An endpoint's rate limit: tokens of a second's worth at most. It starts empty, because the owner before may have sent
// a moment ago; so the limit holds across a change of owner.
export class RateBucket {
  readonly perSecond: number;
  #tokens = 0;
  #filledAt: number;

  constructor(perSecond: number, now: number) {
    this.perSecond = perSecond;
    this.#filledAt = now;
  }

  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until there is a token; zero when there is one. */
  waitMs(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.perSecond) * 1_000);
  }

  #fill(now: number): void {
    const gained = ((now - this.#filledAt) / 1_000) * this.perSecond;
    this.#tokens = Math.min(this.perSecond, this.#tokens + gained);
    this.#filledAt = now;
  }
}
