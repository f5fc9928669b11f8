import { lowestUuidAt, uuidv7 } from "@posthorn/wire";
import { expect, test } from "vitest";
import type { ClaimBatch, Event } from "../model.ts";
import { EventClaims } from "./event-claims.ts";

const start = 1_800_000_000_000;
let now = start;
const eventAt = (ms: number): Event => ({ id: uuidv7(ms) }) as Event;
const delivery = (): { claimBatch: ClaimBatch | null } => ({ claimBatch: null });

function open(): EventClaims {
  now = start;
  return new EventClaims(() => now);
}

test("claims_since is the first event with unfinished deliveries, otherwise a second ago", () => {
  const claims = open();
  expect(claims.since()).toBe(lowestUuidAt(start - 1_000));
  const event = eventAt(start);
  const both = [delivery(), delivery()];
  claims.begin([event], both)?.stored();
  now += 60_000;
  expect(claims.since()).toBe(event.id);
  both[0]?.claimBatch?.ended(both[0]);
  expect(claims.since()).toBe(event.id);
  both[1]?.claimBatch?.ended(both[1]);
  expect(claims.since()).toBe(lowestUuidAt(now - 1_000));
  expect(both.map(({ claimBatch }) => claimBatch)).toEqual([null, null]);
});

test("an event older than the last reported claims_since claims nothing", () => {
  const claims = open();
  claims.since();
  expect(claims.begin([eventAt(start), eventAt(start - 1_001)], [delivery()])).toBeNull();
  expect(claims.begin([eventAt(start), eventAt(start - 1_000)], [delivery()])).not.toBeNull();
});

test("events may wait longer than a second while batches are written", () => {
  const claims = open();
  for (let turn = 0; turn < 5; turn += 1) {
    const batch = claims.begin([eventAt(now - 3_000)], [delivery()]);
    expect(batch === null).toBe(false);
    batch?.remove();
    claims.since();
    now += 500;
  }
});

test("a batch whose reply was lost holds claims_since back until its deliveries have queue rows", () => {
  const claims = open();
  const event = eventAt(start);
  const unknown = claims.begin([event], [delivery()]);
  if (unknown !== null) claims.sent(unknown);
  const unsent = claims.begin([eventAt(start + 5)], [delivery()]);
  now += 10_000;
  expect(claims.since()).toBe(event.id);
  expect(claims.isOverdue).toBe(true);
  const before = claims.afterLastSent;
  expect(before).toBe(lowestUuidAt(start + 1));
  claims.rowsAdded(before);
  expect(claims.isOverdue).toBe(false);
  expect(claims.since()).toBe(unsent?.firstId);
  expect(claims.begin([event], [delivery()])).toBeNull();
});

test("deliveries of a stored batch are claimed by their queue rows once these were added", () => {
  const claims = open();
  const claimed = delivery();
  const batch = claims.begin([eventAt(start)], [claimed]);
  if (batch !== null) claims.sent(batch);
  batch?.stored();
  expect(claimed.claimBatch).toBe(batch);
  claims.rowsAdded(claims.afterLastSent);
  expect(claimed.claimBatch).toBeNull();
});

test("queue rows are also added for events whose deliveries are finished, because a failover may have lost that", () => {
  const claims = open();
  const claimed = delivery();
  const batch = claims.begin([eventAt(start)], [claimed]);
  if (batch !== null) claims.sent(batch);
  batch?.stored();
  batch?.ended(claimed);
  expect(claims.afterLastSent).toBe(lowestUuidAt(start + 1));
});
