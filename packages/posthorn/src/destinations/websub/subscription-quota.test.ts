import { expect, test } from "vitest";
import { hasQuotaLeft } from "./subscription-quota.ts";

const limits = { maxSubscriptions: 10, maxSubscriptionsPerHost: 3 };

test.each([
  ["nobody is there", { ofHost: 0, ofFamily: 0, inAll: 0 }, true],
  ["a host has one less than it may", { ofHost: 2, ofFamily: 2, inAll: 2 }, true],
  ["a host has as many as it may", { ofHost: 3, ofFamily: 3, inAll: 3 }, false],
  ["there is one place, for somebody new", { ofHost: 0, ofFamily: 0, inAll: 9 }, true],
  ["there is none", { ofHost: 0, ofFamily: 0, inAll: 10 }, false],
  ["a name has one less than half", { ofHost: 0, ofFamily: 4, inAll: 4 }, true],
  ["a name has half", { ofHost: 0, ofFamily: 5, inAll: 5 }, false],
  ["another one has half of the rest", { ofHost: 0, ofFamily: 3, inAll: 8 }, false],
])("when %s there is quota left: %o %s", (_when, counts, expected) => {
  expect(hasQuotaLeft(counts, limits)).toBe(expected);
});
