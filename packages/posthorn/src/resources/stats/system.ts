// The state of the installation for operators: workers, backlog, failing endpoints. All lists are limited.
import { formatId } from "@posthorn/wire";
import type { Config } from "../../config.ts";
import type { CircuitState } from "../../model.ts";
import { circuitOf } from "../../settle/endpoint-health.ts";
import type { Queryable } from "../../storage/database.ts";
import type { MigrationStatus } from "../../storage/migrate.ts";
import {
  listDisabled,
  listFailing,
  listOpenCircuits,
  type TroubledRow,
} from "../../storage/queries/health/list-troubled.ts";
import { installationGauges } from "../../storage/queries/installation/gauges.ts";
import { listWorkers, type WorkerRow } from "../../storage/queries/installation/workers.ts";
import type { IsSending } from "../deliveries/waits.ts";
import { toDate } from "../page.ts";
import { type Backlog, readBacklog } from "./backlog.ts";

export interface SystemView {
  readonly schema: Pick<MigrationStatus, "version" | "applied" | "pending">;
  readonly workers: FirstOf<WorkerView>;
  readonly backlog: Backlog & {
    readonly oldestAgeSeconds: number;
    /** Events that wait for their fan-out. */
    readonly outbox: number;
    /** Events that the catalogue rejected and nobody has released or discarded. */
    readonly rejected: number;
  };
  readonly openCircuits: FirstOf<TroubledEndpoint>;
  readonly failingEndpoints: FirstOf<TroubledEndpoint>;
  readonly disabledEndpoints: FirstOf<TroubledEndpoint>;
  readonly retention: Config["retention"];
}

/** The first items of a list, and whether these are all. */
export interface FirstOf<Item> {
  readonly data: readonly Item[];
  readonly isComplete: boolean;
}

/** The `name` is `host:pid`; one that `leads` runs the maintenance tasks. */
export interface WorkerView extends Omit<WorkerRow, "startedMs" | "untilMs"> {
  readonly startedAt: Date;
  readonly lastSeenAt: Date;
}

export interface TroubledEndpoint extends Omit<TroubledRow, "sinceMs" | "probeMs"> {
  readonly since: Date | null;
  readonly circuit: CircuitState;
  readonly probeAt: Date | null;
}

export interface System {
  get(): Promise<SystemView>;
}

export interface SystemOptions {
  readonly db: Queryable;
  readonly migrationStatus: () => Promise<MigrationStatus>;
  readonly retention: Config["retention"];
  /** The same for every worker, so `lastSeenAt` follows from the end of the lease. */
  readonly leaseMs: number;
  readonly nowMs: () => number;
  readonly isSending: IsSending;
}

const MOST_SHOWN = 100;

export function createSystem({
  db,
  migrationStatus,
  retention,
  leaseMs,
  nowMs,
  isSending,
}: SystemOptions): System {
  return {
    async get() {
      const { version, applied, pending } = await migrationStatus();
      const gauges = await installationGauges(db);
      const workers = await firstOf((limit) => listWorkers(db, limit), toWorker);
      const openCircuits = await firstOf((limit) => listOpenCircuits(db, limit), toTroubled);
      const failingEndpoints = await firstOf((limit) => listFailing(db, limit), toTroubled);
      const disabledEndpoints = await firstOf((limit) => listDisabled(db, limit), toTroubled);
      const backlog = {
        ...(await readBacklog(db, gauges, await isSending())),
        oldestAgeSeconds: gauges.webhook_oldest_undelivered_age_seconds,
        outbox: gauges.webhook_outbox_depth,
        rejected: gauges.webhook_rejected_events,
      };
      const schema = { version, applied, pending };
      return { schema, workers, backlog, openCircuits, failingEndpoints, disabledEndpoints, retention };
    },
  };

  function toWorker({ startedMs, untilMs, ...row }: WorkerRow): WorkerView {
    return { ...row, startedAt: new Date(startedMs), lastSeenAt: new Date(untilMs - leaseMs) };
  }

  function toTroubled({ endpointId, sinceMs, probeMs, ...row }: TroubledRow): TroubledEndpoint {
    const circuit = circuitOf({ probeAtMs: probeMs }, nowMs());
    return {
      ...row,
      endpointId: formatId("ep", endpointId),
      since: toDate(sinceMs),
      circuit,
      probeAt: probeMs !== null && circuit === "open" ? new Date(probeMs) : null,
    };
  }
}

async function firstOf<Row, Item>(
  list: (limit: number) => Promise<readonly Row[]>,
  view: (row: Row) => Item,
): Promise<FirstOf<Item>> {
  const rows = await list(MOST_SHOWN + 1);
  return { data: rows.slice(0, MOST_SHOWN).map(view), isComplete: rows.length <= MOST_SHOWN };
}
