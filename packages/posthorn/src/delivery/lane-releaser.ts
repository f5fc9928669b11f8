// Releases what this worker holds: deliveries in lanes that cannot send now, idle lanes, and a few busy lanes if
// another worker has more time for them.
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
  /** Returns the number of other workers; a lone worker keeps idle lanes much longer. */
  readonly otherWorkers: () => number;
  /** True if this worker is overloaded while another has time. */
  readonly isOverloaded: () => boolean;
  /** Lanes with work were released. */
  readonly onYielded: () => void;
  /** Runs a statement that may take effect although it fails. */
  readonly claiming: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

const idleAloneMs = 30_000;
const idleMs = 1_500;
/**
 * Share of the lanes that may move per second: a moved lane pauses briefly, and its effect elsewhere must show first.
 */
const yieldedShare = 0.05;
const lanesPerRelease = 1_000;

export class LaneReleaser {
  readonly #options: LaneReleaserOptions;

  constructor(options: LaneReleaserOptions) {
    this.#options = options;
  }

  /** Releases what waits in lanes that are closing or blocked. */
  async releaseWaiting(): Promise<void> {
    const { lanes } = this.#options;
    const unsent: Uuid[] = [];
    for (const lane of lanes.all()) {
      if (lane.waiting.length > 0 && (lane.isClosing || lane.isBlocked))
        unsent.push(...lanes.withdrawWaiting(lane));
    }
    await this.releaseDeliveries(unsent);
  }

  /** Releases withdrawn deliveries. If that fails, reconciliation does it. */
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

  /** Marks a few lanes of an overloaded worker to be released when their last attempt has ended. */
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
      // rows were inserted meanwhile: the lane has work now
      else if (!lane.isLost) {
        lane.isReleasing = false;
        lanes.markDue(lane);
      }
    }
  }
}
