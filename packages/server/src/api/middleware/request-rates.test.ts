import { expect, onTestFinished, test, vi } from "vitest";
import { linkedGroups } from "../../../../../tests/support/servers/linked-groups.ts";
import { RequestRates } from "./request-rates.ts";

/** Returns how many of many requests at once are allowed. */
function allowedOf(rates: RequestRates, perSecond: number, requests = 1_000): number {
  return Array.from({ length: requests }).filter(() => rates.take("key", perSecond) === 0).length;
}

test("a key may send the requests of one second at once, then at its rate; the wait ends when the next one is allowed", () => {
  const clock = { nowMs: 0 };
  const rates = new RequestRates(undefined, () => clock.nowMs);
  expect(allowedOf(rates, 10)).toBe(10);
  expect(rates.take("key", 10)).toBe(100);
  expect(rates.take("other", 10)).toBe(0);
  clock.nowMs = 500;
  expect(allowedOf(rates, 10)).toBe(5);
  clock.nowMs = 60_000;
  expect(allowedOf(rates, 10)).toBe(10);
});

test.each([2, 3, 8])("%i processes that are all at their limit stay within the rate together", (size) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const processes = linkedGroups(size).map((group) => new RequestRates(group, () => Date.now()));
  const use = (): number => processes.reduce((sum, rates) => sum + allowedOf(rates, 100, 200), 0);
  const burst = use();
  expect(burst).toBe(size * 100);
  let used = burst;
  for (let step = 0; step < 1_000; step += 1) {
    vi.advanceTimersByTime(20);
    used += use();
  }
  // 20 seconds and the burst; afterwards no process is owed more than its burst
  expect(used).toBeGreaterThan(20 * 100);
  expect(used).toBeLessThanOrEqual(20 * 100 + burst);
});

test("a client with one connection gets its whole rate from one of several processes", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [one] = linkedGroups(4).map((group) => new RequestRates(group, () => Date.now()));
  let used = 0;
  for (let step = 0; step < 100; step += 1) {
    used += allowedOf(one as RequestRates, 100, 10);
    vi.advanceTimersByTime(100);
  }
  expect(used).toBe(1_000);
});
