import { expect, test } from "vitest";
import type { PlannedDelivery, StepPlan } from "./plan-step.ts";
import { chooseDeliveries } from "./run-step.ts";

const active = { pausedReason: null };
const again = (id: string, after: string, endpointId = "ep"): PlannedDelivery => ({
  after,
  endpointId,
  what: { kind: "failed", id },
});
const plan: StepPlan = {
  deliveries: [again("1", "0"), again("2", "1"), again("3", "2")],
  position: "9",
  isLast: true,
};

test("all deliveries of an event are chosen together", () => {
  const deliveries = [again("a", "0"), again("b", "0"), again("c", "0"), again("d", "1")];
  const choice = chooseDeliveries({ ...plan, deliveries }, 1, new Map([["ep", active]]));
  expect(choice).toEqual({ chosen: deliveries.slice(0, 3), skipped: {}, position: "1" });
});
