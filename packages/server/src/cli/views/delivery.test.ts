import type { Delivery } from "@posthorn/client";
import { expect, test } from "vitest";
import { retriedText } from "./delivery.ts";

const now = new Date("2026-11-19T12:00:00Z");

type Wait = NonNullable<Delivery["waits_for"]>;
const wait = (reason: Wait["reason"], until: string | null): Wait => ({
  reason,
  until,
  blocked_by: null,
  remedy: "",
});

test.each([
  ["pending", null, "is due now and will be sent by the next free worker"],
  ["pending", wait("circuit", null), "will be sent as the endpoint's next probe, or after the one in flight"],
  ["pending", wait("endpoint_disabled", null), "will be retried; held: the endpoint is disabled"],
  ["in_flight", null, "is being sent"],
  [
    "in_flight",
    wait("cap", null),
    "will be retried; held: the endpoint's limit of attempts in flight is reached",
  ],
  ["failed", wait("retry_delay", "2026-11-19T13:04:00Z"), "was sent: failed, retry in 64 min"],
  ["success", null, "was sent: success"],
] as const)("a retried delivery that is %s and waits for %j", (state, waits_for, text) => {
  expect(retriedText({ state, dead_reason: null, waits_for }, now)).toBe(text);
});

test("a retried delivery that died again", () => {
  const delivery = { state: "dead", dead_reason: "attempts_exhausted", waits_for: null } as const;
  expect(retriedText(delivery, now)).toBe("was sent: dead (attempts_exhausted)");
});
