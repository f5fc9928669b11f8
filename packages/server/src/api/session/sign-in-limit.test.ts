import { expect, test } from "vitest";
import { linkedGroups } from "../../../../../tests/support/servers/linked-groups.ts";
import { FAILURE_BURST, SignInLimit } from "./sign-in-limit.ts";

/** Returns how many of the given number of failing attempts are allowed. */
function allowedOf(limit: SignInLimit, address: string, attempts: number): number {
  return Array.from({ length: attempts }).filter(() => {
    try {
      limit.begin(address);
      return true;
    } catch {
      return false;
    }
  }).length;
}

const ADDRESS = "192.0.2.1";

test("an address has a burst of failures, then one every three seconds; refused attempts do not count", () => {
  const clock = { nowMs: 0 };
  const limit = new SignInLimit(undefined, () => clock.nowMs);
  expect(allowedOf(limit, ADDRESS, 1_000)).toBe(FAILURE_BURST);
  expect(allowedOf(limit, "192.0.2.2", 1)).toBe(1);
  clock.nowMs = 2_999;
  expect(allowedOf(limit, ADDRESS, 1)).toBe(0);
  clock.nowMs = 3_000;
  expect(allowedOf(limit, ADDRESS, 2)).toBe(1);
});

test("a successful attempt does not count, and does not raise the limit", () => {
  const limit = new SignInLimit(undefined, () => 0);
  for (let count = 0; count < 3 * FAILURE_BURST; count += 1) {
    limit.begin(ADDRESS);
    limit.succeeded(ADDRESS);
  }
  limit.succeeded(ADDRESS);
  expect(allowedOf(limit, ADDRESS, FAILURE_BURST + 1)).toBe(FAILURE_BURST);
});

test("IPv6 addresses count by their /64 network, IPv4 addresses individually", () => {
  const limit = new SignInLimit(undefined, () => 0);
  allowedOf(limit, "2001:db8:0:1::7", FAILURE_BURST);
  allowedOf(limit, "::ffff:192.0.2.9", FAILURE_BURST);
  expect(allowedOf(limit, "2001:db8:0:1:ffff::1", 1)).toBe(0);
  expect(allowedOf(limit, "2001:0db8:0:2::7", 1)).toBe(1);
  expect([allowedOf(limit, "::ffff:192.0.2.9", 1), allowedOf(limit, "::ffff:192.0.2.10", 1)]).toEqual([0, 1]);
});

test("processes that share a port count the failures of an address together", () => {
  const [one, two] = linkedGroups(2).map((group) => new SignInLimit(group, () => 0)) as [
    SignInLimit,
    SignInLimit,
  ];
  expect(allowedOf(one, ADDRESS, FAILURE_BURST - 5)).toBe(FAILURE_BURST - 5);
  two.begin(ADDRESS);
  two.succeeded(ADDRESS);
  expect([allowedOf(two, ADDRESS, 100), allowedOf(one, ADDRESS, 100)]).toEqual([5, 0]);
});
