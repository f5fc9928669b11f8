import { expect, test } from "vitest";
import { attemptWaits } from "./attempt-waits.ts";

const phases = { queue_ms: 40, connect_ms: 1, tls_ms: null, first_byte_ms: 2, body_ms: 3 };
const first = {
  trigger: "event",
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 500,
  next_retry_at: "2026-01-01T00:01:00.000Z",
  phases,
} as const;

test("an automatic retry waited for its time since the end of the previous attempt, and then for its turn", () => {
  expect(attemptWaits({ ...first, trigger: "retry" }, first)).toEqual({ retryMs: 59_500, turnMs: 40 });
});

test.each([
  ["the first attempt", first, undefined],
  ["a manual retry", { ...first, trigger: "manual" as const }, first],
  [
    "a retry after an attempt whose end is unknown",
    { ...first, trigger: "retry" as const },
    { ...first, duration_ms: null },
  ],
])("%s has no known wait for a retry", (_, attempt, previous) => {
  expect(attemptWaits(attempt, previous).retryMs).toBeNull();
});
