// Writes the health of this worker's endpoints, many in one statement and only when it changed: a healthy endpoint
// costs nothing.
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import { HEALTHY } from "../settle/endpoint-health.ts";
import type { Queryable } from "../storage/database.ts";
import { recordHealth } from "../storage/queries/health/record.ts";
import type { Lane } from "./lane.ts";

export interface HealthRecorderOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  readonly workerId: () => number;
}

export class HealthRecorder {
  readonly #options: HealthRecorderOptions;
  readonly #changed = new Set<Lane>();
  readonly #loop: Loop;

  constructor(options: HealthRecorderOptions) {
    this.#options = options;
    this.#loop = new Loop({
      name: "recording health",
      intervalMs: 60_000,
      logger: options.logger,
      step: () => this.#record(),
    });
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  note(lane: Lane): void {
    this.#changed.add(lane);
    this.#loop.wake();
  }

  /** Writes now what is not written yet. */
  runNow(): Promise<void> {
    return this.#loop.runNow();
  }

  async #record(): Promise<boolean> {
    const { db, workerId } = this.#options;
    const entries = [...this.#changed]
      .filter((lane) => !lane.isLost)
      .map((lane) => ({ lane, endpointId: lane.endpointId, health: lane.health }));
    this.#changed.clear();
    if (entries.length === 0) return false;
    try {
      await recordHealth(db, workerId(), {
        ill: entries.filter(({ health }) => health !== HEALTHY),
        well: entries.filter(({ health }) => health === HEALTHY).map(({ endpointId }) => endpointId),
      });
    } catch (error) {
      for (const { lane } of entries) this.#changed.add(lane);
      throw error;
    }
    for (const { lane, health } of entries) if (lane.health === health) lane.isHealthUnrecorded = false;
    return false;
  }
}
