// How this worker lets go: of rows it holds in lanes that may not send now, of lanes that are idle, and of a few lanes
// when another worker has more time for them.
import { performance } from "node:perf_hooks";
import type { Uuid } from "../model.ts";
import type { Database } from "../storage/database.ts";
import { releaseLanes } from "../storage/queries/lanes/release.ts";
import { releaseDeliveries } from "../storage/queries/queue/release.ts";
import type { Lane } from "./lane.ts";
import type { Lanes } from "./lanes.ts";

export interface LaneReleaserOptions {
  readonly db: Database;
  readonly lanes: Lanes;
  readonly workerId: () => number;
  /** Other workers there are; alone, a lane is kept much longer. */
  readonly otherWorkers: () => number;
  /** This worker has too much to do, and another one has time. */
  readonly isOverloaded: () => boolean;
  /** Lanes with work were let go of. */
  readonly onYielded: () => void;
  /** Runs a statement that may have been carried out although it failed. */
  readonly claiming: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

const idleAloneMs = 30_000;
const idleMs = 1_500;
/** Of all lanes, each second: a lane that moves pauses for a moment, and what it does elsewhere must show first. */
const yieldedShare = 0.05;
const lanesPerRelease = 1_000;

export class LaneReleaser {
  readonly #options: LaneReleaserOptions;

  constructor(options: LaneReleaserOptions) {
    this.#options = options;
  }

  /** Gives back what waits in lanes that are closing or blocked. */
  async releaseWaiting(): Promise<void> {
    const { lanes } = this.#options;
    const unsent: Uuid[] = [];
    for (const lane of lanes.all()) {
      if (lane.waiting.length > 0 && (lane.isClosing || lane.isBlocked))
        unsent.push(...lanes.withdrawWaiting(lane));
    }
    await this.releaseDeliveries(unsent);
  }

  /** What was withdrawn from lanes. When it fails, it is done again when stock is taken. */
  async releaseDeliveries(withdrawn: readonly Uuid[]): Promise<void> {
    const { db, lanes, workerId, claiming } = this.#options;
    if (withdrawn.length === 0) return;
    let isReleased = false;
    try {
      await claiming(() => releaseDeliveries(db, workerId(), withdrawn));
      isReleased = true;
    } finally {
      lanes.releaseEnded(withdrawn, isReleased);
    }
  }

  /** Under pressure a few lanes are left to others, each when its last attempt has ended. */
  yieldSome(): void {
    const { lanes, isOverloaded } = this.#options;
    if (!isOverloaded()) return;
    let left = Math.ceil(lanes.size * yieldedShare);
    for (const lane of lanes.all()) {
      if (left === 0) return;
      if (lane.isClosing) continue;
      lane.isYielding = true;
      left -= 1;
    }
  }

  async releaseDrained(): Promise<void> {
    await this.#release([...this.#options.lanes.all()].filter((lane) => !lane.isHolding));
  }

  async releaseIdle(): Promise<void> {
    const { lanes, otherWorkers } = this.#options;
    const now = performance.now();
    const idleAfterMs = otherWorkers() === 0 ? idleAloneMs : idleMs;
    const idle: Lane[] = [];
    for (const lane of lanes.all()) {
      if (lane.isHolding) continue;
      const isQuiet = !lane.hasDue && now - lane.usedAt > idleAfterMs && lane.dueAt - now > idleAfterMs;
      if (lane.isClosing || isQuiet) idle.push(lane);
      if (idle.length === lanesPerRelease) break;
    }
    await this.#release(idle);
  }

  async #release(idle: readonly Lane[]): Promise<void> {
    const { db, lanes, workerId, claiming, onYielded } = this.#options;
    if (idle.length === 0) return;
    for (const lane of idle) lane.isReleasing = true;
    const ids = idle.map((lane) => lane.endpointId);
    const released = await claiming(() => releaseLanes(db, workerId(), ids));
    if (idle.some((lane) => lane.isYielding)) onYielded();
    for (const lane of idle) {
      if (released.has(lane.endpointId)) lanes.close(lane);
      // somebody was writing into it: it has work now
      else if (!lane.isLost) {
        lane.isReleasing = false;
        lanes.markDue(lane);
      }
    }
  }
}
