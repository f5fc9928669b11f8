// Rows of the live tail: newest change first, each delivery and event once.
import type { Delivery } from "@posthorn/client";
import type { Filters } from "../app/filters.ts";
import type { Changes, UnmatchedEvent } from "./live.ts";
import { eventMatchesFilters, matchesFilters } from "./row-changes.ts";

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
