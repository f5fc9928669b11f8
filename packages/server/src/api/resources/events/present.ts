// An event as the API shows it. `data` goes out as the bytes that came in, so this writes JSON text itself.
import type { Event, NotMatched } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";
import { presentDelivery } from "../deliveries/present.ts";

type EventDetail = Awaited<ReturnType<Posthorn["events"]["get"]>>;
type EventView = Omit<EventDetail, "deliveries" | "batches" | "notMatched" | "previous">;

export function eventJson(event: EventView): string {
  const before = JSON.stringify({
    id: event.id,
    tenant: event.tenant,
    type: event.type,
    api_version: event.apiVersion,
    subject: event.subject,
    sequence: event.sequence,
  });
  return `${before.slice(0, -1)},"data":${event.payload},"created_at":${JSON.stringify(event.createdAt)},"attributes":${JSON.stringify(event.attributes)}}`;
}

/** With what became of it. */
export function eventDetailJson(event: EventDetail): string {
  const became = {
    deliveries: event.deliveries.map(presentDelivery),
    batches: event.batches.map(({ endpointId, eventId, deliveryId }) => ({
      endpoint_id: endpointId,
      event_id: eventId,
      delivery_id: deliveryId,
    })),
    not_matched: event.notMatched.map(presentNotMatched),
    previous: event.previous,
  };
  return `${eventJson(event).slice(0, -1)},${JSON.stringify(became).slice(1)}`;
}

type NewestEvent = Awaited<ReturnType<Posthorn["events"]["newest"]>>[number];

/** One that no endpoint wanted, for open pages: without its data. */
export function presentUnmatchedEvent(event: NewestEvent): Sent<Omit<Event, "data" | "attributes">> {
  return {
    id: event.id,
    tenant: event.tenant,
    type: event.type,
    api_version: event.apiVersion,
    subject: event.subject,
    sequence: event.sequence,
    created_at: event.createdAt,
  };
}

function presentNotMatched(endpoint: EventDetail["notMatched"][number]): NotMatched {
  return {
    endpoint_id: endpoint.endpointId,
    reason: endpoint.reason,
    detail: endpoint.detail,
    pointer: endpoint.pointer,
    settings_changed: endpoint.settingsChanged,
  };
}
