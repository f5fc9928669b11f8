import { expect, test } from "vitest";
import type { PlannedDelivery, StepPlan } from "./plan-step.ts";
import { chooseDeliveries } from "./run-step.ts";

const open = { closed: null };
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

test("with room for all, all are chosen and the step ends where it was planned to", () => {
  const choice = chooseDeliveries(plan, 3, new Map([["ep", open]]));
  expect(choice).toEqual({ chosen: plan.deliveries, skipped: {}, position: "9" });
});

test("the one that is too many is found again from where the step ended", () => {
  const choice = chooseDeliveries(plan, 2, new Map([["ep", open]]));
  expect(choice).toEqual({ chosen: plan.deliveries.slice(0, 2), skipped: {}, position: "2" });
});

test("what may not be sent is counted by its reason, and uses nothing of the rate", () => {
  const deliveries = [again("1", "0", "off"), again("2", "1", "gone"), again("3", "2")];
  const lanes = new Map<string, { closed: "endpoint_disabled" | null }>([
    ["ep", open],
    ["off", { closed: "endpoint_disabled" }],
  ]);
  expect(chooseDeliveries({ ...plan, deliveries }, 1, lanes)).toEqual({
    chosen: deliveries.slice(2),
    skipped: { endpoint_disabled: 1, endpoint_deleted: 1 },
    position: "9",
  });
});

test("deliveries of one event are chosen together, however many they are", () => {
  const deliveries = [again("a", "0"), again("b", "0"), again("c", "0"), again("d", "1")];
  const choice = chooseDeliveries({ ...plan, deliveries }, 1, new Map([["ep", open]]));
  expect(choice).toEqual({ chosen: deliveries.slice(0, 3), skipped: {}, position: "1" });
});
