// What people decide about events that the catalogue rejected: deliver them as they are, or not at all.
import { parseId } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import type { DeliveryMode, Rejection, Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { discardRejected, releaseRejected } from "../../storage/queries/events/rejected.ts";
import type { Scope } from "../deliveries/delivery-changes.ts";

export interface EventChanges {
  /** Delivers a rejected event, also one that was discarded. */
  release(id: string, scope?: Scope): Promise<void>;
  /** Decides that a rejected event is not delivered. */
  discard(id: string, scope?: Scope): Promise<void>;
}

export interface EventChangesOptions {
  readonly db: Queryable;
  /** The mode in effect. */
  readonly deliveryMode: () => Promise<DeliveryMode>;
  /** Throws if there is no such event in the scope. */
  readonly find: (
    id: string,
    scope?: Scope,
  ) => Promise<{ readonly rejection: Pick<Rejection, "code"> | null }>;
  /** The event is in the outbox. */
  readonly onReleased: () => void;
}

export function createEventChanges(options: EventChangesOptions): EventChanges {
  const { db, deliveryMode, find, onReleased } = options;
  return {
    async release(id, scope = {}) {
      const { rejection } = await find(id, scope);
      if (rejection?.code === "payload_too_large") throw hasNoData(id);
      refuseWhileDropping(await deliveryMode());
      if ((await releaseRejected(db, [parseId("evt", id) as Uuid], true)) === 0)
        throw notRejected(`${id} is not rejected, so there is nothing to release.`);
      onReleased();
    },

    async discard(id, scope = {}) {
      await find(id, scope);
      if ((await discardRejected(db, [parseId("evt", id) as Uuid])) === 0)
        throw notRejected(`${id} is not rejected, or was discarded before, so there is nothing to discard.`);
    },
  };
}

function hasNoData(id: string): PosthornError {
  return new PosthornError(
    "payload_too_large",
    `The data of ${id} was too large to be read from its source, so there is nothing to deliver. Write a row with a new id and smaller data, and discard this event.`,
  );
}

export function refuseWhileDropping(mode: DeliveryMode): void {
  if (mode !== "drop") return;
  throw new PosthornError(
    "delivery_drops",
    "Delivery is off and drops events, so a released event would never be delivered. Set delivery to on or hold, then release it.",
  );
}

function notRejected(message: string): PosthornError {
  return new PosthornError("event_not_rejected", message);
}
