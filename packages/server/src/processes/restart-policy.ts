// When a child that exited is started again. Pure: the supervisor has the timers.

const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;
/** A child that was ready for this long is healthy: its next exit is not part of a series. */
const HEALTHY_MS = 30_000;
/** After this many failed starts in a row, while no child is ready, the primary exits, so that its own supervisor notices. */
export const MAX_FAILED_STARTS = 5;

export class RestartPolicy {
  /** Exits of each child, by its number, since it was last healthy. */
  readonly #exits = new Map<number, number>();
  #failedStarts = 0;

  ready(): void {
    this.#failedStarts = 0;
  }

  /**
   * Returns the delay before the next start, doubled by every exit, or null if the primary exits. `readyForMs` is null if the child
   * exited before it was ready.
   */
  exited(number: number, readyForMs: number | null, readyChildren: number): number | null {
    if (readyForMs === null) this.#failedStarts += 1;
    if (this.#failedStarts >= MAX_FAILED_STARTS && readyChildren === 0) return null;
    const exits = (readyForMs ?? 0) >= HEALTHY_MS ? 1 : (this.#exits.get(number) ?? 0) + 1;
    this.#exits.set(number, exits);
    return Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** (exits - 1));
  }
}
