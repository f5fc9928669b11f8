// Counts deliveries: by current state, and by result for those that ended lately. Counting stops at a limit, so that the
// cost does not grow with the number of deliveries; `isExact` tells whether it was reached.
import type { Queryable } from "../../storage/database.ts";
import { type DeliveryStatsRow, deliveryStats } from "../../storage/queries/deliveries/stats.ts";
import { endpointIdsOf } from "../../storage/queries/endpoints/read.ts";
import { QueryReader } from "../page.ts";

export interface StatsQuery {
  readonly tenant?: string | undefined;
  readonly endpoint?: string | undefined;
  /** How far back `ended` looks. Default `hour`. */
  readonly period?: StatsPeriod | undefined;
}

export type StatsPeriod = "hour" | "day";

export interface Count {
  readonly count: number;
  /** False: `count` is a lower bound. */
  readonly isExact: boolean;
}

export interface StatsView {
  /** Deliveries by current state; successful ones are not counted. */
  readonly now: {
    readonly pending: Count;
    readonly inFlight: Count;
    readonly failed: Count;
    readonly dead: Count;
  };
  /** Ended deliveries of the period's events; beyond the limit, only the newest. */
  readonly ended: {
    readonly since: Date;
    readonly success: Count;
    readonly dead: Count;
    /** From 0 to 1. Null if none has ended. */
    readonly successRate: number | null;
    /** From the event to the successful attempt, retries included. Null if none succeeded. */
    readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number } | null;
  };
}

export interface Stats {
  get(query?: StatsQuery): Promise<StatsView>;
}

const periods: Readonly<Record<StatsPeriod, number>> = { hour: 3_600, day: 86_400 };
const bounds = { scannedAtMost: 10_000, countedAtMost: 2_000 };

export function createStats({ db }: { readonly db: Queryable }): Stats {
  return {
    async get(query = {}) {
      const reader = new QueryReader();
      const tenant = reader.text("tenant", query.tenant);
      const endpointId = reader.id("endpoint", "ep", query.endpoint);
      const period = reader.oneOf("period", query.period, ["hour", "day"]) ?? "hour";
      reader.finish(["tenant", "endpoint", "period"], query);
      const endpointIds =
        tenant !== null
          ? await endpointIdsOf(db, tenant, endpointId)
          : endpointId === null
            ? null
            : [endpointId];
      const periodSeconds = periods[period];
      return toView(await deliveryStats(db, { endpointIds, periodSeconds, ...bounds }));
    },
  };
}

function toView(row: DeliveryStatsRow): StatsView {
  const endedAll = row.endedWell + row.endedDead;
  const [p50, p95, p99] = (row.latencies ?? []).map(Math.round);
  return {
    now: {
      pending: { count: row.pending, isExact: row.isWaitingExact },
      inFlight: { count: row.inFlight, isExact: row.isInFlightExact },
      failed: { count: row.failed, isExact: row.isWaitingExact },
      dead: { count: row.dead, isExact: row.isDeadExact },
    },
    ended: {
      since: new Date(row.sinceMs),
      success: { count: row.endedWell, isExact: row.isEndedExact },
      dead: { count: row.endedDead, isExact: row.isEndedExact },
      successRate: endedAll === 0 ? null : row.endedWell / endedAll,
      latencyMs: p50 === undefined || p95 === undefined || p99 === undefined ? null : { p50, p95, p99 },
    },
  };
}
