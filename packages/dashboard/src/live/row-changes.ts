// Turns stream messages into changes of list rows, and into rows of the live tail.
import type { Delivery, ListedEvent } from "@posthorn/client";
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

/** Derives events from their deliveries and from events without deliveries. Polling updates their outcomes. */
export function eventRowChanges(
  { deliveries, events }: Changes,
  filters: Filters,
): readonly RowChange<ListedEvent>[] {
  const changeOf = (key: string, isMatch: boolean, createdAt: string) => ({
    key,
    row: null,
    createdAt: isMatch ? createdAt : null,
  });
  return [
    ...deliveries.map((delivery) =>
      changeOf(delivery.event_id, matchesFilters(delivery, filters), delivery.created_at),
    ),
    ...events.map((event) => changeOf(event.id, eventMatchesFilters(event, filters), event.created_at)),
  ];
}

function matchesFilters(delivery: Delivery, filters: Filters): boolean {
  const { event_type: type, endpoint_id: endpoint, dead_reason: reason } = delivery;
  return matches({ ...delivery, type, endpoint, reason }, filters);
}

/** An event without deliveries matches no filter on state, reason or endpoint. */
function eventMatchesFilters(event: UnmatchedEvent, filters: Filters): boolean {
  return matches({ ...event, state: null, endpoint: null, reason: null }, filters);
}

const NAMES = ["state", "endpoint", "reason", "tenant", "type", "subject"] as const;
type Fields = Readonly<Record<(typeof NAMES)[number], string | null> & { created_at: string }>;

function matches(row: Fields, filters: Filters): boolean {
  const at = Date.parse(row.created_at);
  const { created_after: after, created_before: before } = filters;
  return (
    NAMES.every((name) => filters[name] === undefined || row[name] === filters[name]) &&
    (after === undefined || at >= Date.parse(after)) &&
    (before === undefined || at < Date.parse(before))
  );
}

/** A row of the live tail: newest change first, each delivery and event once. */
export type TailRow =
  | { readonly kind: "delivery"; readonly delivery: Delivery }
  | { readonly kind: "event"; readonly event: UnmatchedEvent };

const MAX_ROWS = 500;

export function idOf(row: TailRow): string {
  return row.kind === "delivery" ? row.delivery.id : row.event.id;
}

/** Returns the changes that match the filters, oldest first. */
export function rowsOf({ deliveries, events }: Changes, filters: Filters): readonly TailRow[] {
  const rows: readonly TailRow[] = [
    ...deliveries
      .filter((delivery) => matchesFilters(delivery, filters))
      .map((delivery) => ({ kind: "delivery" as const, delivery })),
    ...events
      .filter((event) => eventMatchesFilters(event, filters))
      .map((event) => ({ kind: "event" as const, event })),
  ];
  return rows.toSorted((a, b) => createdAt(a).localeCompare(createdAt(b)));
}

/** Merges changes into the rows: a changed row moves to the top, an unchanged one stays where it is. */
export function mergeRows(before: readonly TailRow[], oldestFirst: readonly TailRow[]): readonly TailRow[] {
  const known = new Map(before.map((row) => [idOf(row), JSON.stringify(row)]));
  const changed = new Map(
    oldestFirst.filter((row) => known.get(idOf(row)) !== JSON.stringify(row)).map((row) => [idOf(row), row]),
  );
  const rest = before.filter((row) => !changed.has(idOf(row)));
  return [...[...changed.values()].toReversed(), ...rest].slice(0, MAX_ROWS);
}

function createdAt(row: TailRow): string {
  return row.kind === "delivery" ? row.delivery.created_at : row.event.created_at;
}
