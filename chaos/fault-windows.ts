// Stretches of time in which a delay is no wonder, and how long something waited apart from them.
import {
  type CaseFile,
  type Deed,
  groupBy,
  type HealthLine,
  type LedgerAttempt,
  type Stretch,
} from "./evidence.ts";
import { disturbs, strikesAll } from "./strikes.ts";

/** A statement is given up for lost after 5 s, and only then a new connection is made. */
const lostStatementMs = 5_000;
/** Lanes and leases are looked at once a second at the latest. */
export const pollMs = 1_000;

/** A deed, and what it takes to get over it. */
export function windowOf(file: CaseFile, deed: Deed): Stretch {
  return { from: deed.at, until: deed.until + noticingMs(file, deed) + 2 * pollMs };
}

/** Until others know, or the process itself; a connection that is reset says so at once. */
function noticingMs({ scale }: CaseFile, { kind }: Deed): number {
  if (kind === "partition") return lostStatementMs;
  // a lease that could not be renewed ends, also that of a worker that lives
  return strikesAll(kind) || kind === "kill worker" || kind === "terminate worker" ? scale.leaseMs : 0;
}

export interface FaultWindow extends Stretch {
  /** A worker's process; null: the database, and so all of them. */
  readonly victim: string | null;
}

/**
 * Strikes that can keep something from being sent. Of those on API processes and on the library only a partition can: who
 * vanishes while it numbers events keeps their subjects and lanes locked until the database ends its transaction, and
 * whoever sends to them waits.
 */
export function faultWindows(file: CaseFile): FaultWindow[] {
  return file.deeds.flatMap((deed) => {
    const { kind, victim } = deed;
    const isWorkers = disturbs(kind) && victim?.startsWith("w");
    if (!isWorkers && !strikesAll(kind) && kind !== "partition") return [];
    return { ...windowOf(file, deed), victim: isWorkers ? victim : null };
  });
}

/** It takes a moment until what a worker has in mind is written down. */
const recordingMs = 200;

/**
 * By endpoint: it asked for a pause, its circuit was not closed, it had as many requests open as it allows, or the
 * machine was busy. In order and apart from each other.
 */
export function endpointHolds(file: CaseFile): Map<string, Stretch[]> {
  const lines = groupBy(file.health, ({ endpointId }) => endpointId);
  const attempts = groupBy(file.deliveries, ({ endpointId }) => endpointId);
  return new Map(
    file.endpoints.map(({ name, id, maxInFlight }) => {
      const own = (attempts.get(id) ?? []).flatMap((delivery) => [
        ...(file.attemptsOf.get(delivery.id)?.values() ?? []),
      ]);
      const holds = [...troubles(lines.get(id) ?? []), ...fullStretches(own, maxInFlight), ...file.stalls];
      return [name, joined(holds)];
    }),
  );
}

function troubles(lines: readonly HealthLine[]): Stretch[] {
  return lines.flatMap(({ at, isOnTrial, throttledUntil }, index) => [
    ...(isOnTrial
      ? [{ from: at - recordingMs, until: (lines[index + 1]?.at ?? Number.POSITIVE_INFINITY) + recordingMs }]
      : []),
    ...(throttledUntil === null ? [] : [{ from: at - recordingMs, until: throttledUntil }]),
  ]);
}

function fullStretches(attempts: readonly LedgerAttempt[], cap: number): Stretch[] {
  const changes = attempts.flatMap(({ startedAt, durationMs }) =>
    startedAt === null || durationMs === null
      ? []
      : [
          { at: startedAt, by: 1 },
          { at: startedAt + durationMs, by: -1 },
        ],
  );
  const full: Stretch[] = [];
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

function joined(stretches: readonly Stretch[]): Stretch[] {
  const apart: { from: number; until: number }[] = [];
  for (const { from, until } of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = apart.at(-1);
    if (last === undefined || from > last.until) apart.push({ from, until });
    else last.until = Math.max(last.until, until);
  }
  return apart;
}

/** Those that overlap with the stretch; there are thousands in a long run, so they are not all looked at. */
export function during(holds: readonly Stretch[], stretch: Stretch): Stretch[] {
  const first = lowestIndex(holds, ({ until }) => until > stretch.from);
  const end = lowestIndex(holds, ({ from }) => from >= stretch.until);
  return holds.slice(first, end);
}

/** The first of a sorted list for which it holds, or the list's length. */
export function lowestIndex<Item>(items: readonly Item[], isPast: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPast(items[middle] as Item)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function overlaps(one: Stretch, other: Stretch): boolean {
  return one.from < other.until && other.from < one.until;
}

/** Less is as good as nothing. */
const negligibleMs = 100;

/** How long something waited, apart from the windows. Excused: its wait fell into them for longer than nothing. */
export function judge(wait: Stretch, windows: readonly Stretch[]): { waitedMs: number; isExcused: boolean } {
  const waitedMs = lengthOutside(wait, windows);
  return { waitedMs, isExcused: waitedMs < wait.until - wait.from - negligibleMs };
}

/** How much of the stretch lies outside all the windows. */
export function lengthOutside({ from, until }: Stretch, windows: readonly Stretch[]): number {
  let outside = 0;
  let covered = from;
  for (const window of joined(windows.filter((window) => overlaps(window, { from, until })))) {
    outside += Math.max(0, window.from - covered);
    covered = window.until;
  }
  return outside + Math.max(0, until - covered);
}
