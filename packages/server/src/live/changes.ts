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

  /** The first call returns what is newer than `since`; later calls return what changed since the previous snapshot. */
  compare(snapshot: Snapshot, since: Date): Changes {
    const before = this.#deliveries;
    const settled = settledEvents(snapshot);
    const newDeliveries = snapshot.deliveries.filter((delivery) =>
      before === null ? delivery.createdAt >= since : before.get(delivery.id) !== progressOf(delivery),
    );
    const newEvents = unmatchedAmong(settled, snapshot).filter(
      (event) => event.createdAt >= since && !this.#events.has(event.id),
    );
    const isPartial =
      isTruncated(newDeliveries, snapshot.deliveries, before) || newEvents.length === SNAPSHOT_SIZE;
    this.#deliveries = new Map(snapshot.deliveries.map((delivery) => [delivery.id, progressOf(delivery)]));
    this.#events = new Set(settled.map(({ id }) => id));
    return { deliveries: newDeliveries.toReversed(), events: newEvents.toReversed(), isPartial };
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
  const events = unmatchedAmong(settledEvents(snapshot), snapshot).filter(
    ({ createdAt }) => createdAt >= since,
  );
  const isPartial = deliveries.length === SNAPSHOT_SIZE || events.length === SNAPSHOT_SIZE;
  return { deliveries: deliveries.toReversed(), events: events.toReversed(), isPartial };
}

const NEVER = new Date(0);

/**
 * Returns the events whose deliveries are all in the snapshot. A delivery id contains the time of its event, so that holds
 * for every event newer than the oldest delivery of the snapshot.
 */
function settledEvents({ events, deliveries, hasOlder }: Snapshot): readonly EventView[] {
  const oldest = hasOlder ? (deliveries.at(-1)?.createdAt ?? null) : NEVER;
  return events.filter(
    ({ createdAt, hasDeliveriesMade }) => hasDeliveriesMade && oldest !== null && createdAt > oldest,
  );
}

function unmatchedAmong(events: readonly EventView[], { deliveries }: Snapshot): readonly EventView[] {
  const wanted = new Set(deliveries.map(({ eventId }) => eventId));
  return events.filter(({ id }) => !wanted.has(id));
}

function isTruncated(
  fresh: readonly DeliveryView[],
  seen: readonly DeliveryView[],
  before: ReadonlyMap<string, string> | null,
): boolean {
  return fresh.length === SNAPSHOT_SIZE && seen.every(({ id }) => before?.has(id) !== true);
}

function progressOf({ state, attemptCount, replayCount, nextRetryAt }: DeliveryView): string {
  return `${state} ${attemptCount} ${replayCount} ${nextRetryAt?.getTime() ?? ""}`;
}
