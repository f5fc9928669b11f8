// Counts deliveries by current state, and the attempts of a period. Counting deliveries stops at a limit, so that the cost
// does not grow with their number; `isExact` shows whether it was reached. Attempts are counted by the workers.
import type { Queryable } from "../../storage/database.ts";
import { type DeliveryStatsRow, deliveryStats } from "../../storage/queries/deliveries/stats.ts";
import { type EndpointFilter, endpointsAsked, OF_ENDPOINT } from "../deliveries/deliveries.ts";
import { readFilters } from "../page.ts";
import { oneOf } from "../read-fields.ts";
import { type ActivityView, createActivity } from "./activity.ts";
import type { AttemptCounts } from "./success-rate.ts";

export interface StatsQuery extends EndpointFilter {
  /** Period of `attempts`. Default `hour`. */
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
  /** Attempts that ended in the period, the same as in the charts. */
  readonly attempts: AttemptCounts & {
    readonly since: Date;
    /** From 0 to 1. Null without attempts. */
    readonly successRate: number | null;
  };
  /**
   * From the event to the successful attempt, retries included: of the newest 2,000 finished deliveries of the period's
   * events. Null if none succeeded.
   */
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number } | null;
}

export interface Stats {
  get(query?: StatsQuery): Promise<StatsView>;
}

const periods: Readonly<Record<StatsPeriod, number>> = { hour: 3_600, day: 86_400 };
const bounds = { scannedAtMost: 10_000, countedAtMost: 2_000 };

export function createStats({ db, nowMs }: { readonly db: Queryable; readonly nowMs: () => number }): Stats {
  const activity = createActivity({ db, nowMs });
  return {
    async get(query = {}) {
      const filters = { ...OF_ENDPOINT, period: oneOf<StatsPeriod>(["hour", "day"]) };
      const { period, ...asked } = readFilters(query, filters);
      const endpointIds = await endpointsAsked(db, asked);
      const periodSeconds = periods[period ?? "hour"];
      const row = await deliveryStats(db, { endpointIds, periodSeconds, ...bounds });
      return toView(row, await activity.get(query));
    },
  };
}

function toView(row: DeliveryStatsRow, { points, total }: ActivityView): StatsView {
  const { success, failed, dead, successRate } = total;
  const [p50, p95, p99] = (row.latencies ?? []).map(Math.round);
  return {
    now: {
      pending: { count: row.pending, isExact: row.isWaitingExact },
      inFlight: { count: row.inFlight, isExact: row.isInFlightExact },
      failed: { count: row.failed, isExact: row.isWaitingExact },
      dead: { count: row.dead, isExact: row.isDeadExact },
    },
    attempts: { since: points[0]?.at ?? new Date(0), success, failed, dead, successRate },
    latencyMs: p50 === undefined || p95 === undefined || p99 === undefined ? null : { p50, p95, p99 },
  };
}
