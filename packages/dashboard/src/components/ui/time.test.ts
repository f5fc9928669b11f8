import { expect, onTestFinished, test, vi } from "vitest";
import { onTick, tickedAt } from "./time.tsx";

test("a time shown after a period without any is not in the future", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  onTick(() => {})();
  vi.advanceTimersByTime(8_000);
  const stop = onTick(() => {});
  expect(tickedAt()).toBe(Date.now());
  vi.advanceTimersByTime(3_000);
  expect(tickedAt()).toBe(Date.now());
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
