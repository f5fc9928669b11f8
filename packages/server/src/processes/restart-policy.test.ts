import { expect, test } from "vitest";
import { MAX_FAILED_STARTS, RestartPolicy } from "./restart-policy.ts";

const HEALTHY_MS = 30_000;

test("the delay doubles with every exit of a child, up to ten seconds", () => {
  const policy = new RestartPolicy();
  const delays = Array.from({ length: 9 }, () => policy.exited(1, 10, 1));
  expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  expect(policy.exited(2, 10, 1)).toBe(100);
});

test("a child that was healthy is started again at once", () => {
  const policy = new RestartPolicy();
  for (let exits = 0; exits < 5; exits += 1) policy.exited(1, HEALTHY_MS - 1, 1);
  expect([policy.exited(1, HEALTHY_MS, 1), policy.exited(1, 0, 1)]).toEqual([100, 200]);
});

test("children are not restarted after too many failed starts while no child is ready", () => {
  const policy = new RestartPolicy();
  for (let starts = 1; starts < MAX_FAILED_STARTS; starts += 1)
    expect(policy.exited(starts, null, 0)).not.toBeNull();
  expect(policy.exited(1, null, 0)).toBeNull();
});

test("children are restarted while another child is ready, and after one became ready", () => {
  const policy = new RestartPolicy();
  for (let starts = 0; starts < 3 * MAX_FAILED_STARTS; starts += 1)
    expect(policy.exited(1, null, 1)).not.toBeNull();
  policy.ready();
  for (let starts = 1; starts < MAX_FAILED_STARTS; starts += 1)
    expect(policy.exited(1, null, 0)).not.toBeNull();
});
