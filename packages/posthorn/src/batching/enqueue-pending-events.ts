import { deliveryIdOf } from "../fan-out/delivery-id.ts";
import type { Uuid } from "../model.ts";
import type { Queryable } from "../storage/database.ts";
import { enqueueSingly, pendingEvents } from "../storage/queries/batches/write.ts";

const AT_ONCE = { events: 500, bytes: 4 * 1024 * 1024 };

/**
 * Enqueues a delivery for each event that waits for a batch which will not be created. Runs in a transaction that holds the
 * lane. Returns the number of deliveries; call it until it returns 0.
 */
export async function enqueuePendingEvents(
  tx: Queryable,
  endpointId: Uuid,
  isOrdered: boolean,
): Promise<number> {
  const members = await pendingEvents(tx, endpointId, AT_ONCE);
  const rows = members.map(({ position, event }) => ({
    position,
    eventId: event.id,
    deliveryId: deliveryIdOf(event.id, endpointId),
    subject: isOrdered && event.sequence !== null ? event.subject : null,
    sequence: isOrdered ? event.sequence : null,
  }));
  if (rows.length > 0) await enqueueSingly(tx, endpointId, rows);
  return rows.length;
}
