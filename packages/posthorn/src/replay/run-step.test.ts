import { expect, test } from "vitest";
import type { StepPlan, Wish } from "./plan-step.ts";
import { chooseWishes } from "./run-step.ts";

const open = { closed: null };
const again = (id: string, after: string, endpointId = "ep"): Wish => ({
  after,
  endpointId,
  what: { kind: "failed", id },
});
const plan: StepPlan = {
  wishes: [again("1", "0"), again("2", "1"), again("3", "2")],
  position: "9",
  isLast: true,
};

test("with room for all, all are granted and the step ends where it was planned to", () => {
  const choice = chooseWishes(plan, 3, new Map([["ep", open]]));
  expect(choice).toEqual({ granted: plan.wishes, skipped: {}, position: "9" });
});

test("the one that is too many is found again from where the step ended", () => {
  const choice = chooseWishes(plan, 2, new Map([["ep", open]]));
  expect(choice).toEqual({ granted: plan.wishes.slice(0, 2), skipped: {}, position: "2" });
});

test("what may not be sent is counted by its reason, and uses nothing of the rate", () => {
  const wishes = [again("1", "0", "off"), again("2", "1", "gone"), again("3", "2")];
  const lanes = new Map<string, { closed: "endpoint_disabled" | null }>([
    ["ep", open],
    ["off", { closed: "endpoint_disabled" }],
  ]);
  expect(chooseWishes({ ...plan, wishes }, 1, lanes)).toEqual({
    granted: wishes.slice(2),
    skipped: { endpoint_disabled: 1, endpoint_deleted: 1 },
    position: "9",
  });
});

test("deliveries of one event are granted together, however many they are", () => {
  const wishes = [again("a", "0"), again("b", "0"), again("c", "0"), again("d", "1")];
  const choice = chooseWishes({ ...plan, wishes }, 1, new Map([["ep", open]]));
  expect(choice).toEqual({ granted: wishes.slice(0, 3), skipped: {}, position: "1" });
});
