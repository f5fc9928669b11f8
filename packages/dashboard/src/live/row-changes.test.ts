import type { Delivery } from "@posthorn/client";
import { expect, test } from "vitest";
import type { UnmatchedEvent } from "./live.ts";
import { deliveryRowChanges, eventRowChanges, idOf, mergeRows, rowsOf, type TailRow } from "./row-changes.ts";

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;

function delivery(id: string, second: number, given: Partial<Delivery> = {}): Delivery {
  const fixed = { tenant: "acme", event_type: "order.paid", subject: null, state: "pending" };
  return { id, event_id: `of ${id}`, created_at: at(second), ...fixed, ...given } as Delivery;
}

function event(id: string, second: number, given: Partial<UnmatchedEvent> = {}): UnmatchedEvent {
  const fixed = { tenant: "acme", type: "order.paid", subject: null };
  return { id, created_at: at(second), ...fixed, ...given } as UnmatchedEvent;
}

const changesOf = (deliveries: readonly Delivery[], events: readonly UnmatchedEvent[] = []) => ({
  deliveries,
  events,
  is_partial: false,
});
const ids = (rows: readonly TailRow[]) => rows.map(idOf);

test("the newest change is on top, and a changed row moves there", () => {
  const first = mergeRows([], rowsOf(changesOf([delivery("a", 1), delivery("c", 3)], [event("b", 2)]), {}));
  expect(ids(first)).toEqual(["c", "b", "a"]);
  const further = mergeRows(first, rowsOf(changesOf([delivery("a", 1, { state: "success" })]), {}));
  expect(ids(further)).toEqual(["a", "c", "b"]);
});

test("a repeated change, as after a reconnect, neither moves nor duplicates a row", () => {
  const changes = changesOf([delivery("a", 1), delivery("c", 3)], [event("b", 2)]);
  const first = mergeRows([], rowsOf(changes, {}));
  expect(mergeRows(first, rowsOf(changes, {}))).toEqual(first);
  expect(mergeRows(first, rowsOf(changesOf([delivery("a", 1)]), {}))).toEqual(first);
});

test("the tail keeps 500 rows", () => {
  const many = Array.from({ length: 501 }, (_, index) => delivery(`d${index}`, 1));
  expect(mergeRows([], rowsOf(changesOf(many), {})).length).toBe(500);
});

test("filters apply to deliveries and events, and a state only to deliveries", () => {
  const changes = changesOf(
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

test("a list of events gets events from their deliveries, and those without deliveries", () => {
  const changes = changesOf([delivery("a", 1, { subject: "s" }), delivery("b", 2)], [event("c", 3)]);
  const counted = eventRowChanges(changes, { subject: "s" }).filter(({ createdAt }) => createdAt !== null);
  expect(counted.map(({ key }) => key)).toEqual(["of a"]);
  expect(eventRowChanges(changes, {}).map(({ key }) => key)).toEqual(["of a", "of b", "c"]);
});

test("a delivery that no longer matches the filters is updated and is not a new row", () => {
  const [row] = deliveryRowChanges(changesOf([delivery("a", 1, { state: "success" })]), { state: "dead" });
  expect(row).toMatchObject({ key: "a", row: { state: "success" }, createdAt: null });
});
