import { expect, test } from "vitest";
import { matchesType } from "./subscription.ts";

test.each([
  [["*"], true],
  [["order.paid"], true],
  [["order.*"], true],
  [["invoice.*", "order.*"], true],
  [["order"], false],
  [["orders.*"], false],
  [["order.paid.*"], false],
  [[], false],
])("%j and order.paid: %s", (events, isAsked) => {
  expect(matchesType(events, "order.paid")).toBe(isAsked);
});
