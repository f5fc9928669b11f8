// A delivery's id is a pure function of its event and endpoint. So a pair has at most one delivery, the deliveries of
// an event are found by primary key without an index on the event, and they are in the event's own time partition.
import { hash } from "node:crypto";
import type { Uuid } from "../model.ts";

export function deliveryIdOf(eventId: Uuid, endpointId: Uuid): Uuid {
  const digest = hash("sha256", eventId + endpointId, "hex");
  // the event's 48 bits of time, then version 7 and variant 10 around 74 bits of the digest
  const variant = ((Number.parseInt(digest.charAt(3), 16) & 3) | 8).toString(16);
  return `${eventId.slice(0, 13)}-7${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}
