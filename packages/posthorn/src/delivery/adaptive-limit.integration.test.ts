// The limit on attempts in flight with real receivers: which of them get more concurrent requests, and when fewer.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
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

/** Handles one request at a time, so that every response takes as long as all the requests before it. */
async function startSerialReceiver(handlingMs: number) {
  const waiting: ServerResponse[] = [];
  let most = 0;
  const respondToFirst = () => {
    waiting.shift()?.end();
    if (waiting.length > 0) setTimeout(respondToFirst, handlingMs);
  };
  const server = createServer((request, response) => {
    request.resume();
    waiting.push(response);
    most = Math.max(most, waiting.length);
    if (waiting.length === 1) setTimeout(respondToFirst, handlingMs);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    most: () => most,
  };
}

test("a receiver that becomes slower with more requests at once gets few more than max_in_flight", async () => {
  const a = await open();
  const serial = await startSerialReceiver(25);
  // without regard to the response time, the limit is reached after 78 deliveries
  await newEndpoint(a, serial, { maxInFlight: 1, maxInFlightBurst: 12 });
  await publish(a, 200);
  await a.settle();
  // 25 ms with one request, 150 ms or more with six
  expect(serial.most()).toBeGreaterThan(1);
  expect(serial.most()).toBeLessThanOrEqual(9);
  expect(await countStates()).toEqual({ success: 200 });
});
