import { expect, test } from "vitest";
import { isBeyond, STALLED_MS } from "./slot-guard.ts";

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
