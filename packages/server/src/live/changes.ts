// Finds changes between two snapshots of the newest deliveries and events: new deliveries, deliveries with a new state,
// and events without deliveries.
import type { Posthorn } from "posthorn";

type DeliveryPage = Awaited<ReturnType<Posthorn["deliveries"]["list"]>>;
export type DeliveryView = DeliveryPage["data"][number];
export type EventView = Awaited<ReturnType<Posthorn["events"]["newest"]>>[number];

export interface Snapshot {
  /** Newest first. Read before the deliveries, so that the deliveries of every event are included. */
  readonly events: readonly EventView[];
  readonly deliveries: readonly DeliveryView[];
  /** True if there are deliveries older than these. */
  readonly hasOlder: boolean;
}

export interface Changes {
  /** Oldest first. */
  readonly deliveries: readonly DeliveryView[];
  /** Events without a delivery, oldest first. */
  readonly events: readonly EventView[];
  /** True if more has happened than a snapshot contains. */
  readonly isPartial: boolean;
}

/** Rows per snapshot: more than a person can read in a second. */
export const SNAPSHOT_SIZE = 100;

export class ChangeFinder {
  #deliveries: ReadonlyMap<string, string> | null = null;
  #events: ReadonlySet<string> = new Set();

  /** The first call returns what happened since `since`; later calls return what changed since the previous snapshot. */
  compare(snapshot: Snapshot, since: Date): Changes {
    const changes =
      this.#deliveries === null
        ? changesSince(snapshot, since, since)
        : this.#changesAfter(this.#deliveries, snapshot, since);
    this.#deliveries = new Map(snapshot.deliveries.map((delivery) => [delivery.id, progressOf(delivery)]));
    this.#events = new Set(settledEvents(snapshot).map(({ id }) => id));
    return changes;
  }

  #changesAfter(before: ReadonlyMap<string, string>, snapshot: Snapshot, since: Date): Changes {
    const deliveries = snapshot.deliveries.filter(
      (delivery) => before.get(delivery.id) !== progressOf(delivery),
    );
    const events = unmatchedSince(snapshot, since).filter(({ id }) => !this.#events.has(id));
    const isTruncated = snapshot.deliveries.every(({ id }) => !before.has(id));
    return changesOf(deliveries, events, isTruncated);
  }
}

/** Returns what happened since a page was last connected. */
export function changesSince(snapshot: Snapshot, since: Date, failedSince: Date): Changes {
  const deliveries = snapshot.deliveries.filter(
    ({ createdAt, deliveredAt, deadAt, state }) =>
      createdAt >= since ||
      (deliveredAt ?? deadAt ?? NEVER) >= since ||
      // the time of the last attempt is not part of the snapshot
      (state === "failed" && createdAt >= failedSince),
  );
  return changesOf(deliveries, unmatchedSince(snapshot, since), true);
}

/** `isTruncated`: if the deliveries fill a snapshot, there may be more. */
function changesOf(
  deliveries: readonly DeliveryView[],
  events: readonly EventView[],
  isTruncated: boolean,
): Changes {
  return {
    deliveries: deliveries.toReversed(),
    events: events.toReversed(),
    isPartial: (isTruncated && deliveries.length === SNAPSHOT_SIZE) || events.length === SNAPSHOT_SIZE,
  };
}

const NEVER = new Date(0);

/**
 * Returns the events whose deliveries are all in the snapshot. A delivery id contains the time of its event, so that holds
 * for every event newer than the oldest delivery of the snapshot.
 */
function settledEvents({ events, deliveries, hasOlder }: Snapshot): readonly EventView[] {
  const oldest = hasOlder ? (deliveries.at(-1)?.createdAt ?? null) : NEVER;
  return events.filter(({ createdAt, isFannedOut }) => isFannedOut && oldest !== null && createdAt > oldest);
}

function unmatchedSince(snapshot: Snapshot, since: Date): readonly EventView[] {
  const wanted = new Set(snapshot.deliveries.map(({ eventId }) => eventId));
  return settledEvents(snapshot).filter(({ id, createdAt }) => createdAt >= since && !wanted.has(id));
}

function progressOf({ state, attemptCount, replayCount, waitsFor }: DeliveryView): string {
  return `${state} ${attemptCount} ${replayCount} ${waitsFor?.reason} ${waitsFor?.until?.getTime()}`;
}
