import { expect, test } from "vitest";
import { isBeyond, progressAt, STALLED_MS } from "./slot-guard.ts";

test.each([
  [100, STALLED_MS, false, "at the limit, without progress"],
  [101, STALLED_MS, true, "beyond the limit, without progress for ten seconds"],
  [101, STALLED_MS - 1, false, "beyond the limit, with progress a moment ago"],
  [200, 0, false, "at twice the limit, with progress"],
  [201, 0, true, "beyond twice the limit, whatever its progress"],
])(
  "a slot that retains %i of 100 bytes and has stalled for %i ms is dropped: %s (%s)",
  (lag, stalledMs, dropped) => {
    expect(isBeyond(lag, 100, stalledMs)).toBe(dropped);
  },
);

const slot = (lagBytes: number, confirmed: string) => ({ lagBytes, confirmed });

test.each([
  [slot(90, "0/1"), slot(90, "0/1"), 60_000, "idle within its limit"],
  [slot(90, "0/1"), slot(150, "0/1"), 0, "idle until now, and beyond its limit without progress"],
  [slot(150, "0/1"), slot(150, "0/2"), 60_000, "beyond its limit, and has confirmed more"],
  [slot(150, "0/1"), slot(140, "0/1"), 60_000, "beyond its limit, and retains less"],
])("from %j to %j, the last progress is that of %i ms (%s)", (before, after, expected) => {
  const last = { slot: before, progressAt: 0 };
  expect(progressAt(after, last, { maxLagBytes: 100, now: 60_000 })).toBe(expected);
});
