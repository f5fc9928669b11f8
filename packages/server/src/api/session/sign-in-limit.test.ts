import { expect, test } from "vitest";
import { FAILURE_BURST, SignInLimit } from "./sign-in-limit.ts";

/** How many of so many tries are let through, of which none works. */
function triesOf(limit: SignInLimit, address: string, times: number): number {
  let count = 0;
  for (let tried = 0; tried < times; tried += 1) {
    try {
      limit.begin(address);
      count += 1;
    } catch {
      // refused
    }
  }
  return count;
}

const ADDRESS = "192.0.2.1";

test("an address may fail so often, then once every three seconds, whatever the others do", () => {
  const clock = { nowMs: 0 };
  const limit = new SignInLimit(() => clock.nowMs);
  expect(triesOf(limit, ADDRESS, FAILURE_BURST + 1)).toBe(FAILURE_BURST);
  expect(triesOf(limit, "192.0.2.2", 1)).toBe(1);
  clock.nowMs = 2_999;
  expect(triesOf(limit, ADDRESS, 1)).toBe(0);
  clock.nowMs = 3_000;
  expect(triesOf(limit, ADDRESS, 2)).toBe(1);
});

test("who is refused does not have to wait longer for having tried", () => {
  const clock = { nowMs: 0 };
  const limit = new SignInLimit(() => clock.nowMs);
  triesOf(limit, ADDRESS, 1_000);
  clock.nowMs = 3_000;
  expect(triesOf(limit, ADDRESS, 1)).toBe(1);
});

test("a try that works costs nothing, and saves nothing up", () => {
  const limit = new SignInLimit(() => 0);
  for (let count = 0; count < 3 * FAILURE_BURST; count += 1) {
    limit.begin(ADDRESS);
    limit.succeeded(ADDRESS);
  }
  limit.succeeded(ADDRESS);
  expect(triesOf(limit, ADDRESS, FAILURE_BURST + 1)).toBe(FAILURE_BURST);
});

test("an IPv6 address counts with its network, one of IPv4 alone", () => {
  const limit = new SignInLimit(() => 0);
  triesOf(limit, "2001:db8:0:1::7", FAILURE_BURST);
  triesOf(limit, "::ffff:192.0.2.9", FAILURE_BURST);
  expect(triesOf(limit, "2001:db8:0:1:ffff::1", 1)).toBe(0);
  expect(triesOf(limit, "2001:0db8:0:2::7", 1)).toBe(1);
  expect([triesOf(limit, "::ffff:192.0.2.9", 1), triesOf(limit, "::ffff:192.0.2.10", 1)]).toEqual([0, 1]);
});
