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

test("within the rate, all deliveries are chosen and the step ends as planned", () => {
  const choice = chooseDeliveries(plan, 3, new Map([["ep", open]]));
  expect(choice).toEqual({ chosen: plan.deliveries, skipped: {}, position: "9" });
});

test("the next step continues with the first delivery beyond the rate", () => {
  const choice = chooseDeliveries(plan, 2, new Map([["ep", open]]));
  expect(choice).toEqual({ chosen: plan.deliveries.slice(0, 2), skipped: {}, position: "2" });
});

test("skipped deliveries are counted by reason and do not use the rate", () => {
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

test("all deliveries of an event are chosen together", () => {
  const deliveries = [again("a", "0"), again("b", "0"), again("c", "0"), again("d", "1")];
  const choice = chooseDeliveries({ ...plan, deliveries }, 1, new Map([["ep", open]]));
  expect(choice).toEqual({ chosen: deliveries.slice(0, 3), skipped: {}, position: "1" });
});
