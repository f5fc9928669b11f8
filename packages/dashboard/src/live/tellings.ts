// What the stream says, as rows of lists: which of it passes a list's filters, and which is new there.
import type { Delivery, Event } from "@posthorn/client";
import type { Told } from "../api/news.ts";
import type { Filters } from "../app/filters.ts";
import type { Changes, UnwantedEvent } from "./live.ts";

export function deliveriesTold({ deliveries }: Changes, filters: Filters): readonly Told<Delivery>[] {
  return deliveries.map((delivery) => ({
    key: delivery.id,
    row: delivery,
    createdAt: passes(delivery, filters) ? delivery.created_at : null,
  }));
}

/** Of a list that is in another order: rows are brought up to date, and none is new. */
export function deliveriesChanged({ deliveries }: Changes): readonly Told<Delivery>[] {
  return deliveries.map((delivery) => ({ key: delivery.id, row: delivery, createdAt: null }));
}

/** Each event has deliveries or none: the stream tells of both, and an event itself never changes. */
export function eventsTold({ deliveries, events }: Changes, filters: Filters): readonly Told<Event>[] {
  const ofDeliveries = deliveries.map((delivery) => ({
    id: delivery.event_id,
    passes: passes(delivery, filters),
    createdAt: delivery.created_at,
  }));
  const unwanted = events.map((event) => ({
    id: event.id,
    passes: eventPasses(event, filters),
    createdAt: event.created_at,
  }));
  return [...ofDeliveries, ...unwanted].map(({ id, passes: isOfList, createdAt }) => ({
    key: id,
    row: null,
    createdAt: isOfList ? createdAt : null,
  }));
}

export function passes(delivery: Delivery, filters: Filters): boolean {
  const { state, endpoint, reason } = filters;
  return (
    (state === undefined || delivery.state === state) &&
    (endpoint === undefined || delivery.endpoint_id === endpoint) &&
    (reason === undefined || delivery.dead_reason === reason) &&
    isAbout({ ...delivery, type: delivery.event_type }, filters)
  );
}

/** Nobody sends it, so whoever looks for a state, a reason or an endpoint does not look for it. */
export function eventPasses(event: UnwantedEvent, filters: Filters): boolean {
  const { state, endpoint, reason } = filters;
  return state === undefined && endpoint === undefined && reason === undefined && isAbout(event, filters);
}

function isAbout(
  {
    tenant,
    type,
    subject,
    created_at,
  }: Pick<Delivery, "tenant" | "subject" | "created_at"> & { readonly type: string },
  filters: Filters,
): boolean {
  return (
    (filters.tenant === undefined || tenant === filters.tenant) &&
    (filters.type === undefined || type === filters.type) &&
    (filters.subject === undefined || subject === filters.subject) &&
    (filters.created_after === undefined || Date.parse(created_at) >= Date.parse(filters.created_after)) &&
    (filters.created_before === undefined || Date.parse(created_at) < Date.parse(filters.created_before))
  );
}
