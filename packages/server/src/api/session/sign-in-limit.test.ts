import { expect, test } from "vitest";
import { FAILURES_AT_ONCE, SignInLimit } from "./sign-in-limit.ts";

function limitAt(clock: { nowMs: number }): { limit: SignInLimit; isOpen: (address?: string) => boolean } {
  const limit = new SignInLimit(() => clock.nowMs);
  const isOpen = (address = "192.0.2.1"): boolean => {
    try {
      limit.check(address);
      return true;
    } catch {
      return false;
    }
  };
  return { limit, isOpen };
}

function fail(limit: SignInLimit, address: string, times: number): void {
  for (let count = 0; count < times; count += 1) limit.failed(address);
}

test("an address may fail so often, then once every three seconds, whatever the others do", () => {
  const clock = { nowMs: 0 };
  const { limit, isOpen } = limitAt(clock);
  fail(limit, "192.0.2.1", FAILURES_AT_ONCE - 1);
  expect(isOpen()).toBe(true);
  fail(limit, "192.0.2.1", 1);
  expect([isOpen(), isOpen("192.0.2.2")]).toEqual([false, true]);
  clock.nowMs = 2_999;
  expect(isOpen()).toBe(false);
  clock.nowMs = 3_000;
  expect(isOpen()).toBe(true);
  fail(limit, "192.0.2.1", 1);
  expect(isOpen()).toBe(false);
});

test("many that fail at the same moment do not have to wait longer than one", () => {
  const clock = { nowMs: 0 };
  const { limit, isOpen } = limitAt(clock);
  fail(limit, "192.0.2.1", 1_000);
  clock.nowMs = 3_000;
  expect(isOpen()).toBe(true);
});

test("an IPv6 address counts with its network, one of IPv4 alone", () => {
  const { limit, isOpen } = limitAt({ nowMs: 0 });
  fail(limit, "2001:db8:0:1::7", FAILURES_AT_ONCE);
  fail(limit, "::ffff:192.0.2.9", FAILURES_AT_ONCE);
  expect(isOpen("2001:db8:0:1:ffff::1")).toBe(false);
  expect(isOpen("2001:0db8:0:2::7")).toBe(true);
  expect([isOpen("::ffff:192.0.2.9"), isOpen("::ffff:192.0.2.10")]).toEqual([false, true]);
});
