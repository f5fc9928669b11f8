// What is new among the newest deliveries of a tenant, or of all: those that were not there at the last look, and those
// that have come further since.
import type { Posthorn } from "posthorn";

type Page = Awaited<ReturnType<Posthorn["deliveries"]["list"]>>;
export type DeliveryView = Page["data"][number];

export interface Changes {
  /** Oldest first. */
  readonly deliveries: readonly DeliveryView[];
  /** More has happened than a look sees. */
  readonly isPartial: boolean;
}

/** A person reads no more a second. */
export const LOOK_AT = 100;

export class ChangeFinder {
  #known: ReadonlyMap<string, string> | null = null;

  /** The first look only remembers; with `since`, it tells of those that are newer. */
  compare(newestFirst: readonly DeliveryView[], since: Date | null): Changes {
    const before = this.#known;
    this.#known = new Map(newestFirst.map((delivery) => [delivery.id, progressOf(delivery)]));
    const fresh = newestFirst.filter((delivery) => {
      if (before === null) return since !== null && delivery.createdAt >= since;
      return before.get(delivery.id) !== progressOf(delivery);
    });
    const isFull = newestFirst.length === LOOK_AT;
    const areAllNew = newestFirst.every(({ id }) => before?.has(id) !== true);
    return { deliveries: fresh.toReversed(), isPartial: isFull && areAllNew && fresh.length === LOOK_AT };
  }
}

function progressOf({ state, attemptCount, replayCount, nextRetryAt }: DeliveryView): string {
  return `${state} ${attemptCount} ${replayCount} ${nextRetryAt?.getTime() ?? ""}`;
}
