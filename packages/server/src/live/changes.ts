// What is new among the newest deliveries and events of a tenant, or of all: deliveries that were not there at the last
// look or have come further since, and events that nobody wanted.
import type { Posthorn } from "posthorn";

type DeliveryPage = Awaited<ReturnType<Posthorn["deliveries"]["list"]>>;
export type DeliveryView = DeliveryPage["data"][number];
export type EventView = Awaited<ReturnType<Posthorn["events"]["newest"]>>[number];

export interface Snapshot {
  /** Newest first, as deliveries. Read before them, so that those of every event are there. */
  readonly events: readonly EventView[];
  readonly deliveries: readonly DeliveryView[];
  /** There are older deliveries than these. */
  readonly hasOlder: boolean;
}

export interface Changes {
  /** Oldest first, as events. */
  readonly deliveries: readonly DeliveryView[];
  /** Those that nobody wanted. */
  readonly events: readonly EventView[];
  /** More has happened than a look sees. */
  readonly isPartial: boolean;
}

/** A person reads no more a second. */
export const SNAPSHOT_SIZE = 100;

export class ChangeFinder {
  #deliveries: ReadonlyMap<string, string> | null = null;
  #events: ReadonlySet<string> = new Set();

  /** The first look tells of what is newer than `since`, and remembers the rest. */
  compare(look: Snapshot, since: Date): Changes {
    const before = this.#deliveries;
    const settled = settledEvents(look);
    const newDeliveries = look.deliveries.filter((delivery) =>
      before === null ? delivery.createdAt >= since : before.get(delivery.id) !== progressOf(delivery),
    );
    const newEvents = unmatchedAmong(settled, look).filter(
      (event) => event.createdAt >= since && !this.#events.has(event.id),
    );
    const isPartial =
      isTruncated(newDeliveries, look.deliveries, before) || newEvents.length === SNAPSHOT_SIZE;
    this.#deliveries = new Map(look.deliveries.map((delivery) => [delivery.id, progressOf(delivery)]));
    this.#events = new Set(settled.map(({ id }) => id));
    return { deliveries: newDeliveries.toReversed(), events: newEvents.toReversed(), isPartial };
  }
}

/** For a page that was away since then, or saw some of it. */
export function changesSince(look: Snapshot, since: Date, failedSince: Date): Changes {
  const deliveries = look.deliveries.filter(
    ({ createdAt, deliveredAt, deadAt, state }) =>
      createdAt >= since ||
      (deliveredAt ?? deadAt ?? NEVER) >= since ||
      // when its last attempt was is not known here
      (state === "failed" && createdAt >= failedSince),
  );
  const events = unmatchedAmong(settledEvents(look), look).filter(({ createdAt }) => createdAt >= since);
  const isPartial = deliveries.length === SNAPSHOT_SIZE || events.length === SNAPSHOT_SIZE;
  return { deliveries: deliveries.toReversed(), events: events.toReversed(), isPartial };
}

const NEVER = new Date(0);

/**
 * A delivery has the time of its event in its id. So the deliveries of an event that is younger than the oldest delivery
 * in sight are all in sight, and nobody has to ask for them.
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
