import { type EventAttributes, uuidTimeMs } from "@posthorn/wire";
import type { Event, Uuid } from "../../../model.ts";

export interface EventRow {
  event_id: Uuid;
  tenant: string;
  type: string;
  api_version: string;
  subject: string | null;
  sequence: number | null;
  payload: Buffer;
  traceparent: string | null;
  attributes: EventAttributes | null;
  edited_from: Uuid | null;
}

/** Columns of `posthorn.events e`. */
export const eventColumns =
  "e.id as event_id, e.tenant, e.type, e.api_version, e.subject, e.sequence, e.payload, e.traceparent, e.attributes, e.edited_from";

export function toEvent(row: EventRow): Event {
  return {
    id: row.event_id,
    tenant: row.tenant,
    type: row.type,
    apiVersion: row.api_version,
    subject: row.subject,
    sequence: row.sequence,
    payload: row.payload,
    createdAt: new Date(uuidTimeMs(row.event_id)),
    traceparent: row.traceparent ?? undefined,
    attributes: row.attributes ?? undefined,
    editedFrom: row.edited_from ?? undefined,
  };
}
