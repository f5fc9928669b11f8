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

export function databaseWindows(file: CaseFile): Stretch[] {
  return file.deeds.filter(({ kind }) => strikesAll(kind)).map((deed) => windowOf(file, deed));
}

export function workerWindows(file: CaseFile, isMeant: (deed: Deed) => boolean): Stretch[] {
  return file.deeds
    .filter((deed) => disturbs(deed.kind) && deed.victim?.startsWith("w") && isMeant(deed))
    .map((deed) => windowOf(file, deed));
}

/** It takes a moment until what a worker has in mind is written down. */
const recordingMs = 200;

/** By endpoint: it asked for a pause, its circuit was not closed, or it had as many requests open as it allows. */
export function endpointHolds(file: CaseFile): Map<string, Stretch[]> {
  const lines = groupBy(file.health, ({ endpointId }) => endpointId);
  const attempts = groupBy(file.deliveries, ({ endpointId }) => endpointId);
  return new Map(
    file.endpoints.map(({ name, id, maxInFlight }) => {
      const own = (attempts.get(id) ?? []).flatMap((delivery) => [
        ...(file.attemptsOf.get(delivery.id)?.values() ?? []),
      ]);
      return [name, [...troubles(lines.get(id) ?? []), ...fullStretches(own, maxInFlight)]];
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

export function overlaps(one: Stretch, other: Stretch): boolean {
  return one.from < other.until && other.from < one.until;
}

/** How much of the stretch lies outside all the windows. */
export function lengthOutside({ from, until }: Stretch, windows: readonly Stretch[]): number {
  let outside = 0;
  let covered = from;
  for (const window of windows.toSorted((a, b) => a.from - b.from)) {
    if (window.until <= covered || window.from >= until) continue;
    outside += Math.max(0, window.from - covered);
    covered = Math.max(covered, window.until);
  }
  return outside + Math.max(0, until - covered);
}
