// The limit on attempts in flight with a real receiver and two processes.
import { expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishTimes,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { eventuallyPasses } from "../../../../tests/support/eventually.ts";
import { gate } from "../../../../tests/support/gate.ts";
import type { TestInstance } from "../testing/index.ts";

const receiver = await receiverPerFile();
const world = databasePerTest();
const { open, countStates } = world;

function publish(instance: TestInstance, count: number): Promise<string[]> {
  return publishTimes(instance, count, { tenant: "acme", type: "order.paid", data: {} });
}

const currentLimit = async ({ hooks }: TestInstance, id: string) =>
  (await hooks.endpoints.get("acme", id)).health.currentMaxInFlight;

test("a busy endpoint that responds fast gets more than five requests at once, and never more than 50", async () => {
  const [a, b] = [await open(), await open()];
  const { path, id } = await newEndpoint(a, receiver);
  const held = gate();
  receiver.answer(path, [...Array(1_000).fill({ delayMs: 1 }), { until: held.opened }]);
  expect(await a.hooks.endpoints.get("acme", id)).toMatchObject({
    maxInFlight: 5,
    maxInFlightBurst: 50,
    health: { currentMaxInFlight: 5 },
  });
  for (let n = 0; n < 3; n += 1) await Promise.all([publish(a, 500), publish(b, 500)]);
  await receiver.received(1_005, { path });
  // as many as the limit allows are open, and both processes know how many that is
  await eventuallyPasses(async () => {
    const { now } = receiver.concurrency(path);
    expect([await currentLimit(a, id), await currentLimit(b, id)]).toEqual([now, now]);
  });
  held.open();
  await receiver.received(3_000, { path });
  await Promise.all([a.settle(), b.settle()]);
  expect(receiver.concurrency(path).max).toBeGreaterThan(5);
  expect(receiver.concurrency(path).max).toBeLessThanOrEqual(50);
  expect(await countStates()).toEqual({ success: 3_000 });
});
