// The percentage of failed attempts over the last minute, in two halves of which the older is dropped every 30 s. In
// memory only: a new owner starts with an empty window.

const HALF_MS = 30_000;
/** With fewer attempts the percentage is not significant. */
const MIN_ATTEMPTS = 20;

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
    if (attempts < MIN_ATTEMPTS) return 0;
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
