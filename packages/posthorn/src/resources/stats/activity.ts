// Attempts over time for the charts, with one point per time bucket.
import type { Uuid } from "../../model.ts";
import { LATENCY_BUCKETS, percentile } from "../../observe/latency-histogram.ts";
import type { Queryable } from "../../storage/database.ts";
import {
  type ActivityRow,
  type EndpointHourRow,
  endpointHours,
  INSTALLATION,
  readActivity,
  WIDTHS,
  type Width,
} from "../../storage/queries/activity.ts";
import { endpointIdsOf } from "../../storage/queries/endpoints/read.ts";
import { type EndpointFilter, OF_ENDPOINT } from "../deliveries/deliveries.ts";
import { readFilters } from "../page.ts";
import { oneOf } from "../read-fields.ts";
import { type AttemptCounts, successRate } from "./success-rate.ts";

export type ActivityPeriod = "hour" | "day" | "month";

export interface ActivityQuery extends EndpointFilter {
  /** Default `hour`. */
  readonly period?: ActivityPeriod | undefined;
}

/** Attempts by outcome, and percentiles of their duration in milliseconds, null without attempts. */
export interface ActivityCounts extends AttemptCounts {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface ActivityView {
  readonly period: ActivityPeriod;
  readonly stepSeconds: number;
  /** Oldest first; the last bucket is still being filled. */
  readonly points: readonly (ActivityCounts & { readonly at: Date })[];
  readonly total: ActivityCounts & { readonly successRate: number | null };
}

export interface Activity {
  get(query?: ActivityQuery): Promise<ActivityView>;
}

/** An endpoint's attempts of the last 24 hours, the same as those of the period `day`. */
export interface LastDay {
  readonly success: number;
  /** Includes attempts after which the delivery became dead. */
  readonly failed: number;
  /** From 0 to 1. */
  readonly successRate: number;
  /** By hour, oldest first: 25, of which the first and the last are not complete, or 24. */
  readonly points: readonly { readonly at: Date; readonly success: number; readonly failed: number }[];
}

export interface ActivityOptions {
  readonly db: Queryable;
  /** The database's time. */
  readonly nowMs: () => number;
}

/** For a tenant with more, only the newest are included: each costs one lookup per point. */
const MOST_ENDPOINTS = 500;
const HOUR_MS = 3_600_000;
const FIVE_MS = WIDTHS.five * 1_000;
const DAY_HOURS = 24;
/** The current and the previous hour are read from five-minute buckets, because late attempts may still be added. */
const HOURS_NOT_ROLLED_UP = 2;

export function createActivity({ db, nowMs }: ActivityOptions): Activity {
  return {
    async get(query = {}) {
      const filters = { ...OF_ENDPOINT, period: oneOf<ActivityPeriod>(["hour", "day", "month"]) };
      const asked = readFilters(query, filters);
      const period = asked.period ?? "hour";
      const endpointIds = await endpointsAsked(asked.tenant, asked.endpoint);
      const step = stepOf(period, endpointIds[0] === INSTALLATION);
      const times = timesUpTo(nowMs(), step * 1_000, POINTS_SECONDS[period] / step);
      return toView(period, step, times, await rowsAt(step, times, endpointIds));
    },
  };

  async function endpointsAsked(tenant: string | null, endpointId: Uuid | null): Promise<readonly Uuid[]> {
    if (tenant !== null) return (await endpointIdsOf(db, tenant, endpointId)).slice(-MOST_ENDPOINTS);
    return [endpointId ?? INSTALLATION];
  }

  async function rowsAt(
    step: Width,
    times: readonly number[],
    endpointIds: readonly Uuid[],
  ): Promise<readonly ActivityRow[]> {
    if (step !== WIDTHS.hour) return await readActivity(db, step, times, endpointIds);
    const { rolledUpMs, fivesMs } = splitHours(times);
    return [
      ...(await readActivity(db, WIDTHS.hour, rolledUpMs, endpointIds)),
      ...(await readActivity(db, WIDTHS.five, fivesMs, endpointIds)),
    ];
  }
}

/** Endpoints without attempts are not in the map. */
export async function lastDaysOf(
  db: Queryable,
  endpointIds: readonly Uuid[],
  nowMs: number,
): Promise<ReadonlyMap<Uuid, LastDay>> {
  if (endpointIds.length === 0) return new Map();
  const { times, ...parts } = lastDayOf(nowMs);
  const hoursOf = new Map<Uuid, EndpointHourRow[]>();
  for (const row of await endpointHours(db, endpointIds, parts))
    hoursOf.set(row.endpointId, [...(hoursOf.get(row.endpointId) ?? []), row]);
  return new Map([...hoursOf].map(([endpointId, hours]) => [endpointId, toLastDay(times, hours)]));
}

const POINTS_SECONDS: Readonly<Record<ActivityPeriod, number>> = {
  hour: 3_600,
  day: DAY_HOURS * 3_600,
  month: 30 * DAY_HOURS * 3_600,
};

function stepOf(period: ActivityPeriod, isOfInstallation: boolean): Width {
  if (period === "month") return WIDTHS.hour;
  return period === "hour" && isOfInstallation ? WIDTHS.minute : WIDTHS.five;
}

/** Start times of the buckets; the last one is the current bucket. */
function timesUpTo(nowMs: number, stepMs: number, count: number): number[] {
  const lastMs = Math.floor(nowMs / stepMs) * stepMs;
  return Array.from({ length: count }, (_, index) => lastMs - (count - 1 - index) * stepMs);
}

/** The hours of the last day's five-minute buckets. Only the buckets of the first hour that are in the day are read. */
function lastDayOf(nowMs: number): { times: number[]; rolledUpMs: number[]; fivesMs: number[] } {
  const fives = timesUpTo(nowMs, FIVE_MS, (DAY_HOURS * HOUR_MS) / FIVE_MS);
  const hourOf = (atMs: number) => Math.floor(atMs / HOUR_MS) * HOUR_MS;
  const times = [...new Set(fives.map(hourOf))];
  const [firstMs = 0, ...laterMs] = times;
  const { rolledUpMs, fivesMs } = splitHours(laterMs);
  return { times, rolledUpMs, fivesMs: [...fives.filter((atMs) => hourOf(atMs) === firstMs), ...fivesMs] };
}

function splitHours(hoursMs: readonly number[]): { rolledUpMs: number[]; fivesMs: number[] } {
  const rolledUpMs = hoursMs.slice(0, -HOURS_NOT_ROLLED_UP);
  const fivesMs = hoursMs
    .slice(-HOURS_NOT_ROLLED_UP)
    .flatMap((hourMs) => Array.from({ length: HOUR_MS / FIVE_MS }, (_, index) => hourMs + index * FIVE_MS));
  return { rolledUpMs, fivesMs };
}

function toView(
  period: ActivityPeriod,
  stepSeconds: Width,
  times: readonly number[],
  rows: readonly ActivityRow[],
): ActivityView {
  const stepMs = stepSeconds * 1_000;
  const sums = new Map(times.map((atMs) => [atMs, nothingYet()]));
  const total = nothingYet();
  for (const row of rows) {
    const sum = sums.get(Math.floor(row.atMs / stepMs) * stepMs);
    if (sum === undefined) continue;
    add(sum, row);
    add(total, row);
  }
  return {
    period,
    stepSeconds,
    points: [...sums].map(([atMs, sum]) => ({ at: new Date(atMs), ...toCounts(sum) })),
    total: { ...toCounts(total), successRate: successRate(total) },
  };
}

interface Sum {
  success: number;
  failed: number;
  dead: number;
  readonly latency: number[];
}

function nothingYet(): Sum {
  return { success: 0, failed: 0, dead: 0, latency: new Array<number>(LATENCY_BUCKETS).fill(0) };
}

function add(sum: Sum, row: ActivityRow): void {
  sum.success += row.success;
  sum.failed += row.failed;
  sum.dead += row.dead;
  for (const [index, attempts] of row.latency.entries())
    sum.latency[index] = (sum.latency[index] ?? 0) + attempts;
}

function toCounts({ success, failed, dead, latency }: Sum): ActivityCounts {
  return {
    success,
    failed,
    dead,
    p50: percentile(latency, 0.5),
    p95: percentile(latency, 0.95),
    p99: percentile(latency, 0.99),
  };
}

function toLastDay(times: readonly number[], hours: readonly EndpointHourRow[]): LastDay {
  const byTime = new Map(hours.map((hour) => [hour.atMs, hour]));
  const points = times.map((atMs) => {
    const { success = 0, failed = 0 } = byTime.get(atMs) ?? {};
    return { at: new Date(atMs), success, failed };
  });
  const success = points.reduce((sum, point) => sum + point.success, 0);
  const failed = points.reduce((sum, point) => sum + point.failed, 0);
  return { success, failed, successRate: successRate({ success, failed, dead: 0 }) ?? 0, points };
}
