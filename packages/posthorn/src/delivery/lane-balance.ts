// Decides whether this worker has more lanes than its share, and how many it yields. Pure: it compares the figures of
// the last heartbeats.
import type { OtherWorker } from "../storage/queries/workers/reap.ts";

type Other = Pick<OtherWorker, "delivers" | "leaseEnded" | "utilisation" | "lanes">;

export interface OwnLoad {
  readonly lanes: number;
  /** Share of time, from 0 to 1, in which the event loop was busy. */
  readonly utilisation: number;
}

/** Utilisation above which a worker is overloaded, and below which it has time for more lanes. */
const busyAbove = 0.8;
const idleBelow = 0.5;
/** A tenth more lanes than the average is not an excess. */
const tolerated = 1.1;
/**
 * Share of the lanes that an overloaded worker yields at once: a moved lane pauses briefly, and the load of the other
 * workers has to show its effect first.
 */
const yieldedShare = 0.05;
/**
 * The figures change once a second. If every survey in between yielded lanes, two workers would pass most of them back
 * and forth.
 */
const yieldEveryMs = 1_000;

export class LaneBalance {
  #isOverloaded = false;
  /** The number of lanes beyond this worker's share. */
  #excess = 0;
  #yieldedAt = Number.NEGATIVE_INFINITY;

  compare({ lanes, utilisation }: OwnLoad, others: readonly Other[]): void {
    const sharing = others.filter((other) => other.delivers && !other.leaseEnded);
    this.#isOverloaded = utilisation > busyAbove && sharing.some((other) => other.utilisation < idleBelow);
    const average = sharing.reduce((sum, other) => sum + other.lanes, lanes) / (sharing.length + 1);
    this.#excess = Math.max(0, lanes - Math.ceil(average * tolerated));
  }

  /** False if other workers should get the lanes that become ready. */
  get mayGainLanes(): boolean {
    return !this.#isOverloaded && this.#excess === 0;
  }

  /** Returns how many of its lanes this worker yields now, and 0 until that can have had its effect. */
  takeLanesToYield(lanes: number, now: number): number {
    if (this.mayGainLanes || now - this.#yieldedAt < yieldEveryMs) return 0;
    this.#yieldedAt = now;
    const share = this.#isOverloaded ? Math.ceil(lanes * yieldedShare) : 0;
    return Math.max(share, Math.ceil(this.#excess / 2));
  }
}
