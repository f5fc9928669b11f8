import type { Delivery } from "@posthorn/client";
import { expect, test } from "vitest";
import type { UnmatchedEvent } from "./live.ts";
import { deliveryRowChanges, eventRowChanges } from "./row-changes.ts";
import { idOf, mergeRows, rowsOf, type TailRow } from "./tail-rows.ts";

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;

function delivery(id: string, second: number, given: Partial<Delivery> = {}): Delivery {
  const fixed = { tenant: "acme", event_type: "order.paid", subject: null, state: "pending" };
  return { id, event_id: `of ${id}`, created_at: at(second), ...fixed, ...given } as Delivery;
}

function event(id: string, second: number, given: Partial<UnmatchedEvent> = {}): UnmatchedEvent {
  const fixed = { tenant: "acme", type: "order.paid", subject: null };
  return { id, created_at: at(second), ...fixed, ...given } as UnmatchedEvent;
}

const told = (deliveries: readonly Delivery[], events: readonly UnmatchedEvent[] = []) => ({
  deliveries,
  events,
  is_partial: false,
});
const ids = (rows: readonly TailRow[]) => rows.map(idOf);

test("the newest change is on top, and a row that comes further moves there", () => {
  const first = mergeRows([], rowsOf(told([delivery("a", 1), delivery("c", 3)], [event("b", 2)]), {}));
  expect(ids(first)).toEqual(["c", "b", "a"]);
  const further = mergeRows(first, rowsOf(told([delivery("a", 1, { state: "success" })]), {}));
  expect(ids(further)).toEqual(["a", "c", "b"]);
});

test("what is told a second time, as after a lost connection, moves nothing and is not there twice", () => {
  const changes = told([delivery("a", 1), delivery("c", 3)], [event("b", 2)]);
  const first = mergeRows([], rowsOf(changes, {}));
  expect(mergeRows(first, rowsOf(changes, {}))).toEqual(first);
  expect(mergeRows(first, rowsOf(told([delivery("a", 1)]), {}))).toEqual(first);
});

test("a tail keeps 500 rows", () => {
  const many = Array.from({ length: 501 }, (_, index) => delivery(`d${index}`, 1));
  expect(mergeRows([], rowsOf(told(many), {})).length).toBe(500);
});

test("filters hold for deliveries and for events, and a state is one of deliveries alone", () => {
  const changes = told(
    [delivery("a", 1), delivery("b", 2, { tenant: "other", state: "dead" })],
    [event("c", 3), event("d", 4, { tenant: "other" })],
  );
  expect(ids(rowsOf(changes, { tenant: "acme" }))).toEqual(["a", "c"]);
  expect(ids(rowsOf(changes, { state: "dead" }))).toEqual(["b"]);
  expect(ids(rowsOf(changes, { type: "order.paid", created_after: at(2), created_before: at(4) }))).toEqual([
    "b",
    "c",
  ]);
});

test("a list of events hears of events by their deliveries, and of those that have none", () => {
  const changes = told([delivery("a", 1, { subject: "s" }), delivery("b", 2)], [event("c", 3)]);
  const counted = eventRowChanges(changes, { subject: "s" }).filter(({ createdAt }) => createdAt !== null);
  expect(counted.map(({ key }) => key)).toEqual(["of a"]);
  expect(eventRowChanges(changes, {}).map(({ key }) => key)).toEqual(["of a", "of b", "c"]);
});

test("a delivery that matchesFilters no longer is brought up to date, and is no new row", () => {
  const [row] = deliveryRowChanges(told([delivery("a", 1, { state: "success" })]), { state: "dead" });
  expect(row).toMatchObject({ key: "a", row: { state: "success" }, createdAt: null });
});
