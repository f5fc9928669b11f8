// The limit on an endpoint's attempts in flight: from `max_in_flight` up to `max_in_flight_burst`, by additive increase
// and multiplicative decrease. In memory only, so that a new owner of the lane starts at `max_in_flight`.
//
// The limit changes at the end of a round: as many successes as the limit, of attempts that began after its last change.
//
//   grows by one    if deliveries waited because of the limit, and the round was not slow
//   is halved       if the round was slow, and by every failed attempt
//   is reset        if the receiver asks for fewer requests, and after 10 s in which nothing waited because of the limit

/** A round is slow if its mean response time exceeds twice the baseline plus this: small delays are noise. */
const NOISE_MS = 100;
/** A round that takes longer is always slow: an endpoint that responds slowly must not hold many slots. */
const SLOW_MS = 1_000;
/** Older measurements reveal little about the receiver's current state. */
const VALID_MS = 10_000;
/** Durations are in whole milliseconds. */
const ROUNDING_MS = 1;

export class AdaptiveLimit {
  readonly #now: () => number;
  #least = 1;
  #most = 1;
  #limit = 1;
  /** The lowest mean of a round since the limit was last at its least. */
  #baselineMs = 0;
  /** When a delivery last waited because of the limit. */
  #reachedAt = 0;
  #round = { beganAt: 0, successes: 0, reached: 0, totalMs: 0 };

  constructor(now: () => number) {
    this.#now = now;
  }

  get current(): number {
    const isValid = this.#limit === this.#least || this.#now() - this.#reachedAt <= VALID_MS;
    return isValid ? this.#limit : this.#least;
  }

  /** A `most` below `least` means that the limit does not grow. */
  setBounds(least: number, most: number): void {
    this.#least = least;
    this.#most = Math.max(least, most);
    this.#set(Math.min(this.#limit, this.#most));
  }

  reset(): void {
    this.#set(this.#least);
  }

  /** An attempt failed. */
  halve(): void {
    this.#set(this.current / 2);
  }

  /** An attempt succeeded. `isReached`: a delivery waits because of the limit. */
  succeeded(durationMs: number, isReached: boolean): void {
    if (this.#least === this.#most) return;
    const now = this.#now();
    if (this.current < this.#limit) this.reset();
    if (isReached) this.#reachedAt = now;
    const round = this.#round;
    if (now - durationMs + ROUNDING_MS < round.beganAt) return;
    round.successes += 1;
    round.totalMs += durationMs;
    if (isReached) round.reached += 1;
    if (round.successes >= this.#limit) this.#endRound();
  }

  #endRound(): void {
    const { successes, reached, totalMs } = this.#round;
    const meanMs = totalMs / successes;
    this.#baselineMs = this.#limit === this.#least ? meanMs : Math.min(this.#baselineMs, meanMs);
    const isSlow = meanMs > Math.min(SLOW_MS, 2 * this.#baselineMs + NOISE_MS);
    if (isSlow) this.#set(this.#limit / 2);
    else this.#set(this.#limit + (reached * 2 >= successes ? 1 : 0));
  }

  #set(limit: number): void {
    this.#limit = Math.max(this.#least, Math.min(this.#most, Math.floor(limit)));
    this.#round = { beganAt: this.#now(), successes: 0, reached: 0, totalMs: 0 };
  }
}
