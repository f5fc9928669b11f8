import { expect, test } from "vitest";
import { validate } from "../event/validate.ts";

const given = "00-11111111111111111111111111111111-2222222222222222-01";
const publish = (traceparent: string) =>
  validate({ tenant: "acme", type: "order.paid", data: 1, traceparent }, 0);

test("an event keeps the trace it is given", () => {
  expect(publish(given).event.traceparent).toBe(given);
});

test.each([
  "",
  "00-1-2-01",
  given.replace("1111", "ABCD"),
  `${given}-more`,
  given.replace("00-", "01-"),
  `00-${"0".repeat(32)}-2222222222222222-01`,
  `00-${"1".repeat(32)}-${"0".repeat(16)}-01`,
])("%j is no traceparent", (traceparent) => {
  expect(() => publish(traceparent)).toThrow(/traceparent must be a W3C trace context/);
});
