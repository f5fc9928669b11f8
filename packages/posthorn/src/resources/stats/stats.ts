// Counts deliveries: by current state, and by result for those that ended lately. Counting stops at a limit, so that the
// cost does not grow with the number of deliveries; `isExact` shows whether it was reached.
import type { Queryable } from "../../storage/database.ts";
import { type DeliveryStatsRow, deliveryStats } from "../../storage/queries/deliveries/stats.ts";
import { type EndpointFilter, endpointsAsked, OF_ENDPOINT } from "../deliveries/deliveries.ts";
import { readFilters } from "../page.ts";
import { oneOf } from "../read-fields.ts";

export interface StatsQuery extends EndpointFilter {
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
      const filters = { ...OF_ENDPOINT, period: oneOf<StatsPeriod>(["hour", "day"]) };
      const { period, ...asked } = readFilters(query, filters);
      const endpointIds = await endpointsAsked(db, asked);
      const periodSeconds = periods[period ?? "hour"];
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
