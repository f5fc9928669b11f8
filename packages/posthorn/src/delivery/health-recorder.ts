// Writes the health of this worker's endpoints, many in one statement and only when it changed: a healthy endpoint
// costs nothing.
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import { HEALTHY } from "../settle/endpoint-health.ts";
import type { Queryable } from "../storage/database.ts";
import { recordHealth } from "../storage/queries/health/record.ts";
import type { Lane } from "./lane.ts";
import type { Lease } from "./lease.ts";

export interface HealthRecorderOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  readonly lease: Pick<Lease, "workerId">;
  readonly reportsCircuits: boolean;
  /** The health of these lanes is in the database. */
  readonly onRecorded: (lanes: readonly Lane[]) => void;
}

export class HealthRecorder extends Loop {
  readonly #options: HealthRecorderOptions;
  readonly #changed = new Set<Lane>();

  constructor(options: HealthRecorderOptions) {
    const { logger } = options;
    super({ name: "recording health", intervalMs: 60_000, logger, step: () => this.#record() });
    this.#options = options;
  }

  note(lane: Lane): void {
    this.#changed.add(lane);
    this.wake();
  }

  async #record(): Promise<boolean> {
    const { db, lease, reportsCircuits } = this.#options;
    const entries = [...this.#changed]
      .filter((lane) => lane.state !== "lost")
      .map((lane) => ({ lane, endpointId: lane.endpointId, health: lane.health }));
    this.#changed.clear();
    if (entries.length === 0) return false;
    try {
      await recordHealth(db, lease.workerId, {
        failing: entries.filter(({ health }) => health !== HEALTHY),
        healthy: entries.filter(({ health }) => health === HEALTHY).map(({ endpointId }) => endpointId),
        reportsCircuits,
      });
    } catch (error) {
      for (const { lane } of entries) this.#changed.add(lane);
      throw error;
    }
    const recorded = entries.filter(({ lane, health }) => lane.health === health).map(({ lane }) => lane);
    for (const lane of recorded) lane.isHealthUnrecorded = false;
    this.#options.onRecorded(recorded);
    return false;
  }
}
