// The rows of a tail: the newest change on top, each delivery and each event once.
import type { Delivery } from "@posthorn/client";
import type { Filters } from "../app/filters.ts";
import type { Changes, UnwantedEvent } from "./live.ts";
import { eventPasses, passes } from "./tellings.ts";

export type TailRow =
  | { readonly kind: "delivery"; readonly delivery: Delivery }
  | { readonly kind: "event"; readonly event: UnwantedEvent };

const MOST_ROWS = 500;

export function idOf(row: TailRow): string {
  return row.kind === "delivery" ? row.delivery.id : row.event.id;
}

/** Oldest first, those that pass the filters. */
export function rowsOf({ deliveries, events }: Changes, filters: Filters): readonly TailRow[] {
  const rows: readonly TailRow[] = [
    ...deliveries
      .filter((delivery) => passes(delivery, filters))
      .map((delivery) => ({ kind: "delivery" as const, delivery })),
    ...events
      .filter((event) => eventPasses(event, filters))
      .map((event) => ({ kind: "event" as const, event })),
  ];
  return rows.toSorted((a, b) => createdAt(a).localeCompare(createdAt(b)));
}

/** A row that was there before moves up with what is new about it; what is told a second time changes nothing. */
export function merged(before: readonly TailRow[], oldestFirst: readonly TailRow[]): readonly TailRow[] {
  const known = new Map(before.map((row) => [idOf(row), JSON.stringify(row)]));
  const changed = new Map(
    oldestFirst.filter((row) => known.get(idOf(row)) !== JSON.stringify(row)).map((row) => [idOf(row), row]),
  );
  const rest = before.filter((row) => !changed.has(idOf(row)));
  return [...[...changed.values()].toReversed(), ...rest].slice(0, MOST_ROWS);
}

function createdAt(row: TailRow): string {
  return row.kind === "delivery" ? row.delivery.created_at : row.event.created_at;
}
