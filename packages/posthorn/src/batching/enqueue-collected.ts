// What waits for a batch that there will not be becomes deliveries of its own, one for each event.

import { deliveryIdOf } from "../fan-out/delivery-id.ts";
import type { Uuid } from "../model.ts";
import type { Queryable } from "../storage/database.ts";
import { oweSingly, waitingMembers } from "../storage/queries/batches/make.ts";

const AT_ONCE = { events: 500, bytes: 4 * 1024 * 1024 };

/** In a transaction that holds the lane; `isOrdered`: those of a subject go one by one. Returns how many: there may be more until it is none. */
export async function oweCollected(tx: Queryable, endpointId: Uuid, isOrdered: boolean): Promise<number> {
  const members = await waitingMembers(tx, endpointId, AT_ONCE);
  const owed = members.map(({ position, event }) => ({
    position,
    eventId: event.id,
    deliveryId: deliveryIdOf(event.id, endpointId),
    subject: isOrdered && event.sequence !== null ? event.subject : null,
    sequence: isOrdered ? event.sequence : null,
  }));
  if (owed.length > 0) await oweSingly(tx, endpointId, owed);
  return owed.length;
}
