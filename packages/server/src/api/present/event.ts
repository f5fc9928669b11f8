// An event as the API shows it. `data` goes out as the bytes that came in, so this writes JSON text itself.
import type { Posthorn } from "posthorn";
import { presentDelivery } from "./delivery.ts";

type EventDetail = Awaited<ReturnType<Posthorn["events"]["get"]>>;
type EventView = Omit<EventDetail, "deliveries">;

export function eventJson(event: EventView): string {
  const before = JSON.stringify({
    id: event.id,
    tenant: event.tenant,
    type: event.type,
    api_version: event.apiVersion,
    subject: event.subject,
    sequence: event.sequence,
  });
  return `${before.slice(0, -1)},"data":${event.payload},"created_at":${JSON.stringify(event.createdAt)}}`;
}

/** With what became of it. */
export function eventDetailJson(event: EventDetail): string {
  return `${eventJson(event).slice(0, -1)},"deliveries":${JSON.stringify(event.deliveries.map(presentDelivery))}}`;
}
