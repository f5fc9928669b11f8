// Intervals in which a delay is excused, and how long something waited outside of them.

import { hitsDatabase, isDisruptive } from "../faults/faults.ts";
import {
  groupBy,
  type HealthLine,
  type IndexedEvidence,
  type InjectedFault,
  type Interval,
  type LedgerAttempt,
} from "./evidence.ts";
import { lowestIndex } from "./lowest-index.ts";

/** A statement times out after 5 s, and only then is a new connection opened. */
const lostStatementMs = 5_000;
/** Lanes and leases are polled once a second. */
export const pollMs = 1_000;

/** Returns the interval of a fault, including the recovery from it. */
export function windowOf(evidence: IndexedEvidence, injected: InjectedFault): Interval {
  return { from: injected.at, until: injected.until + detectionMs(evidence, injected) + 2 * pollMs };
}

/** Returns how long other processes, or the process itself, need to notice the fault. */
function detectionMs({ scale }: IndexedEvidence, { kind }: InjectedFault): number {
  if (kind === "partition") return lostStatementMs;
  // a lease that cannot be renewed expires, even if the worker is alive
  return hitsDatabase(kind) || kind === "kill worker" || kind === "terminate worker" ? scale.leaseMs : 0;
}

export interface FaultWindow extends Interval {
  /** The affected worker process; null: all of them. */
  readonly victim: string | null;
}

/**
 * Returns the intervals of faults that can delay a delivery. Of faults on API processes and on the library only a
 * partition can: subjects and lanes stay locked until the database ends the transaction of the disconnected publisher.
 */
export function faultWindows(evidence: IndexedEvidence): FaultWindow[] {
  return evidence.injectedFaults.flatMap((injected) => {
    const { kind, victim } = injected;
    const isWorkers = isDisruptive(kind) && victim?.startsWith("w");
    if (!isWorkers && !hitsDatabase(kind) && kind !== "partition") return [];
    return { ...windowOf(evidence, injected), victim: isWorkers ? victim : null };
  });
}

/** Time until a worker has recorded a change of health. */
const recordingMs = 200;

/**
 * Returns, by endpoint, the sorted and disjoint intervals in which it was throttled, its circuit was not closed, its
 * limit of open requests was reached, or the machine was busy.
 */
export function endpointHolds(evidence: IndexedEvidence): Map<string, Interval[]> {
  const lines = groupBy(evidence.health, ({ endpointId }) => endpointId);
  const attempts = groupBy(evidence.deliveries, ({ endpointId }) => endpointId);
  return new Map(
    evidence.endpoints.map(({ name, id, maxInFlight }) => {
      const own = (attempts.get(id) ?? []).flatMap((delivery) => [
        ...(evidence.attemptsOf.get(delivery.id)?.values() ?? []),
      ]);
      const holds = [
        ...healthHolds(lines.get(id) ?? []),
        ...fullIntervals(own, maxInFlight),
        ...evidence.stalls,
      ];
      return [name, joined(holds)];
    }),
  );
}

function healthHolds(lines: readonly HealthLine[]): Interval[] {
  return lines.flatMap(({ at, isCircuitOpen, throttledUntil }, index) => [
    ...(isCircuitOpen
      ? [{ from: at - recordingMs, until: (lines[index + 1]?.at ?? Number.POSITIVE_INFINITY) + recordingMs }]
      : []),
    ...(throttledUntil === null ? [] : [{ from: at - recordingMs, until: throttledUntil }]),
  ]);
}

function fullIntervals(attempts: readonly LedgerAttempt[], cap: number): Interval[] {
  const changes = attempts.flatMap(({ startedAt, durationMs }) =>
    startedAt === null || durationMs === null
      ? []
      : [
          { at: startedAt, by: 1 },
          { at: startedAt + durationMs, by: -1 },
        ],
  );
  const full: Interval[] = [];
  let open = 0;
  let fullSince: number | null = null;
  for (const { at, by } of changes.sort((a, b) => a.at - b.at)) {
    open += by;
    if (open >= cap) fullSince ??= at;
    else if (fullSince !== null) {
      full.push({ from: fullSince, until: at });
      fullSince = null;
    }
  }
  return full;
}

function joined(intervals: readonly Interval[]): Interval[] {
  const apart: { from: number; until: number }[] = [];
  for (const { from, until } of intervals.toSorted((a, b) => a.from - b.from)) {
    const last = apart.at(-1);
    if (last === undefined || from > last.until) apart.push({ from, until });
    else last.until = Math.max(last.until, until);
  }
  return apart;
}

/** Returns the holds that overlap with the interval, by binary search. */
export function during(holds: readonly Interval[], interval: Interval): Interval[] {
  const first = lowestIndex(holds, ({ until }) => until > interval.from);
  const end = lowestIndex(holds, ({ from }) => from >= interval.until);
  return holds.slice(first, end);
}

export function overlaps(one: Interval, other: Interval): boolean {
  return one.from < other.until && other.from < one.until;
}

/** Shorter overlaps are ignored. */
const negligibleMs = 100;

/** Returns how much given time something waited outside the windows, and whether they covered a relevant part of its wait. */
export function judge(
  { givenMs }: IndexedEvidence,
  wait: Interval,
  windows: readonly Interval[],
): { waitedMs: number; isExcused: boolean } {
  const outside = partsOutside(wait, windows);
  return {
    waitedMs: outside.reduce((sum, part) => sum + givenMs(part), 0),
    isExcused: lengthOf(outside) < wait.until - wait.from - negligibleMs,
  };
}

/** Returns how much of the interval lies outside all windows. */
export function lengthOutside(interval: Interval, windows: readonly Interval[]): number {
  return lengthOf(partsOutside(interval, windows));
}

function partsOutside({ from, until }: Interval, windows: readonly Interval[]): Interval[] {
  const parts: Interval[] = [];
  let covered = from;
  for (const window of joined(windows.filter((window) => overlaps(window, { from, until })))) {
    if (window.from > covered) parts.push({ from: covered, until: window.from });
    covered = window.until;
  }
  return until > covered ? [...parts, { from: covered, until }] : parts;
}

const lengthOf = (parts: readonly Interval[]): number =>
  parts.reduce((sum, { from, until }) => sum + until - from, 0);
