// Turns stream messages into changes of list rows.
import type { Delivery, Event } from "@posthorn/client";
import type { RowChange } from "../api/new-rows.ts";
import type { Filters } from "../app/filters.ts";
import type { Changes, UnmatchedEvent } from "./live.ts";

export function deliveryRowChanges(
  { deliveries }: Changes,
  filters: Filters,
): readonly RowChange<Delivery>[] {
  return deliveries.map((delivery) => ({
    key: delivery.id,
    row: delivery,
    createdAt: matchesFilters(delivery, filters) ? delivery.created_at : null,
  }));
}

/** Updates rows without adding new ones, for lists in another order than newest first. */
export function deliveryRowUpdates({ deliveries }: Changes): readonly RowChange<Delivery>[] {
  return deliveries.map((delivery) => ({ key: delivery.id, row: delivery, createdAt: null }));
}

/** Derives events from their deliveries and from events without deliveries. Events never change. */
export function eventRowChanges(
  { deliveries, events }: Changes,
  filters: Filters,
): readonly RowChange<Event>[] {
  const ofDeliveries = deliveries.map((delivery) => ({
    id: delivery.event_id,
    isMatch: matchesFilters(delivery, filters),
    createdAt: delivery.created_at,
  }));
  const unmatched = events.map((event) => ({
    id: event.id,
    isMatch: eventMatchesFilters(event, filters),
    createdAt: event.created_at,
  }));
  return [...ofDeliveries, ...unmatched].map(({ id, isMatch, createdAt }) => ({
    key: id,
    row: null,
    createdAt: isMatch ? createdAt : null,
  }));
}

export function matchesFilters(delivery: Delivery, filters: Filters): boolean {
  const { state, endpoint, reason } = filters;
  return (
    (state === undefined || delivery.state === state) &&
    (endpoint === undefined || delivery.endpoint_id === endpoint) &&
    (reason === undefined || delivery.dead_reason === reason) &&
    eventFieldsMatch({ ...delivery, type: delivery.event_type }, filters)
  );
}

/** An event without deliveries matches no filter on state, reason or endpoint. */
export function eventMatchesFilters(event: UnmatchedEvent, filters: Filters): boolean {
  const { state, endpoint, reason } = filters;
  return (
    state === undefined && endpoint === undefined && reason === undefined && eventFieldsMatch(event, filters)
  );
}

function eventFieldsMatch(
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
