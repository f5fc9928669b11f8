import { expect, test } from "vitest";
import {
  ChangeFinder,
  type Changes,
  changesSince,
  type DeliveryView,
  type EventView,
  SNAPSHOT_SIZE,
  type Snapshot,
} from "./changes.ts";

function delivery(id: string, given: Partial<DeliveryView> = {}): DeliveryView {
  return {
    id,
    eventId: `event of ${id}`,
    state: "pending",
    attemptCount: 0,
    replayCount: 0,
    nextRetryAt: null,
    deliveredAt: null,
    deadAt: null,
    waitsFor: null,
    createdAt: new Date(1_000),
    ...given,
  } as DeliveryView;
}

function event(id: string, ms: number, given: Partial<EventView> = {}): EventView {
  return { id, createdAt: new Date(ms), isFannedOut: true, ...given } as EventView;
}

/** Newest first. */
function look(
  deliveries: readonly DeliveryView[],
  events: readonly EventView[] = [],
  hasOlder = false,
): Snapshot {
  return { deliveries, events, hasOlder };
}

const ids = ({ deliveries }: Changes) => deliveries.map(({ id }) => id);
const eventIds = ({ events }: Changes) => events.map(({ id }) => id);
const BEGINNING = new Date(0);

test("the first snapshot reports what was created, delivered or dead since the stream was opened, oldest first", () => {
  const newestFirst = [
    delivery("e", { createdAt: new Date(3_000) }),
    delivery("d", { createdAt: new Date(2_000) }),
    delivery("c", { state: "dead", deadAt: new Date(2_000) }),
    delivery("b", { state: "success", deliveredAt: new Date(2_000) }),
    delivery("a", { state: "success", deliveredAt: new Date(1_999) }),
  ];
  const changes = new ChangeFinder().compare(
    look(newestFirst, [event("y", 2_500), event("x", 1_500)]),
    new Date(2_000),
  );
  expect([ids(changes), eventIds(changes)]).toEqual([["b", "c", "d", "e"], ["y"]]);
});

test("later snapshots report new and changed deliveries once", () => {
  const finder = new ChangeFinder();
  finder.compare(look([delivery("b"), delivery("a")]), BEGINNING);
  const later = look([delivery("c"), delivery("b", { state: "success", attemptCount: 1 }), delivery("a")]);
  expect(ids(finder.compare(later, BEGINNING))).toEqual(["b", "c"]);
  expect(ids(finder.compare(later, BEGINNING))).toEqual([]);
});

test("a full snapshot without a known delivery is partial", () => {
  const finder = new ChangeFinder();
  finder.compare(look([delivery("old")]), BEGINNING);
  const many = Array.from({ length: SNAPSHOT_SIZE }, (_, index) => delivery(`d${index}`));
  expect(finder.compare(look(many, [], true), BEGINNING).isPartial).toBe(true);
  expect(finder.compare(look(many.slice(1)), BEGINNING).isPartial).toBe(false);
});

test("a full snapshot of events without deliveries is partial", () => {
  const finder = new ChangeFinder();
  finder.compare(look([]), BEGINNING);
  const many = Array.from({ length: SNAPSHOT_SIZE }, (_, index) => event(`e${index}`, 2_000));
  expect(finder.compare(look([], many.slice(1)), BEGINNING).isPartial).toBe(false);
  expect(new ChangeFinder().compare(look([], many), BEGINNING).isPartial).toBe(true);
});

test("an event without deliveries is reported once, and one with deliveries is not", () => {
  const finder = new ChangeFinder();
  finder.compare(look([]), BEGINNING);
  const deliveries = [delivery("d", { eventId: "wanted", createdAt: new Date(2_000) })];
  const later = look(deliveries, [event("unwanted", 3_000), event("wanted", 2_000)]);
  expect(eventIds(finder.compare(later, BEGINNING))).toEqual(["unwanted"]);
  expect(eventIds(finder.compare(later, BEGINNING))).toEqual([]);
});

test("an event is reported only after its fan-out", () => {
  const finder = new ChangeFinder();
  finder.compare(look([]), BEGINNING);
  const waiting = [event("e", 2_000, { isFannedOut: false })];
  expect(eventIds(finder.compare(look([], waiting), BEGINNING))).toEqual([]);
  expect(eventIds(finder.compare(look([], [event("e", 2_000)]), BEGINNING))).toEqual(["e"]);
});

test("an event whose dead letter was deleted is not reported as one without deliveries", () => {
  const finder = new ChangeFinder();
  finder.compare(look([delivery("d", { eventId: "e" })], [event("e", 1_000)]), BEGINNING);
  expect(eventIds(finder.compare(look([], [event("e", 1_000)]), BEGINNING))).toEqual([]);
});

test("events as old as the oldest delivery of a snapshot are not reported, because it may lack their deliveries", () => {
  const finder = new ChangeFinder();
  finder.compare(look([]), BEGINNING);
  const inSight = [delivery("d", { eventId: "other", createdAt: new Date(2_000) })];
  const events = [event("younger", 2_001), event("as old", 2_000)];
  expect(eventIds(finder.compare(look(inSight, events, true), BEGINNING))).toEqual(["younger"]);
  expect(eventIds(new ChangeFinder().compare(look([], events, true), BEGINNING))).toEqual([]);
});

test("a client that reconnects gets what was created, ended or failed since", () => {
  const old = { createdAt: new Date(1_000) };
  const seen = look(
    [
      delivery("made", { createdAt: new Date(6_000) }),
      delivery("delivered", { ...old, state: "success", deliveredAt: new Date(6_000) }),
      delivery("given up", { ...old, state: "dead", deadAt: new Date(6_000) }),
      delivery("failed", { ...old, state: "failed" }),
      delivery("failed long ago", { createdAt: new Date(10), state: "failed" }),
      delivery("over before", { ...old, state: "success", deliveredAt: new Date(2_000) }),
    ],
    [event("unwanted", 6_000), event("unwanted before", 2_000)],
  );
  const changes = changesSince(seen, new Date(5_000), new Date(500));
  expect(new Set(ids(changes))).toEqual(new Set(["made", "delivered", "given up", "failed"]));
  expect(eventIds(changes)).toEqual(["unwanted"]);
});
