// Sends an event to an endpoint again: retries its delivery, or adds the event to the next batch if the endpoint receives
// batches.
import { formatId, parseId } from "@posthorn/wire";
import { PosthornError } from "../../errors.ts";
import { deliveryIdOf } from "../../fan-out/delivery-id.ts";
import { batchEncodingOf } from "../../formats/formats.ts";
import { BATCH_TYPE, type Uuid } from "../../model.ts";
import type { Database } from "../../storage/database.ts";
import { addToNextBatch } from "../../storage/queries/batches/add.ts";
import { lockLane } from "../../storage/queries/lanes/lock.ts";
import type { Endpoints } from "../endpoints/endpoints.ts";
import type { Events } from "../events/events.ts";
import type { Scope } from "./delivery-changes.ts";
import { type DeliveryChanges, pausedError } from "./delivery-changes.ts";

export interface ResendOptions {
  readonly db: Database;
  readonly events: Pick<Events, "get">;
  readonly endpoints: Pick<Endpoints, "get">;
  readonly retry: DeliveryChanges["retry"];
  /** Called when an event was added to the next batch. */
  readonly onCollected: () => void;
}

/** `deliveryId` is null if the event waits for a batch. Throws if there is no such event or endpoint. */
export type ResendEvent = (
  id: string,
  endpoint: string,
  scope?: Scope,
) => Promise<{ readonly deliveryId: string | null }>;

export function createResendEvent({ db, events, endpoints, retry, onCollected }: ResendOptions): ResendEvent {
  return async (id, endpoint, scope = {}) => {
    const event = await events.get(id, scope);
    if (event.rejection !== null) throw rejectedError(id);
    const { format } = await endpoints.get(event.tenant, endpoint);
    const eventId = parseId("evt", id) as Uuid;
    const endpointId = parseId("ep", endpoint) as Uuid;
    const deliveryId = formatId("dlv", deliveryIdOf(eventId, endpointId));
    const isOwn = event.deliveries.some((delivery) => delivery.id === deliveryId);
    if (isOwn || batchEncodingOf(format) === null || event.type === BATCH_TYPE) {
      await retry(deliveryId);
      return { deliveryId };
    }
    await db.transaction(async (tx) => {
      const lane = await lockLane(tx, endpointId);
      if (lane?.pausedReason != null) throw pausedError(lane.pausedReason, "send the event again");
      await addToNextBatch(tx, [{ eventId, endpointId }]);
    });
    onCollected();
    return { deliveryId: null };
  };
}

export function rejectedError(id: string): PosthornError {
  return new PosthornError(
    "event_rejected",
    `The catalogue rejected ${id}. Release it first: all its endpoints then receive it.`,
  );
}
