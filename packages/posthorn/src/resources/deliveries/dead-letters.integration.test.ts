// Counting and deleting dead letters by a filter.
import { expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishTimes,
  receiverPerFile,
} from "../../../../../tests/support/database/database-per-test.ts";
import type { TestInstance } from "../../testing/index.ts";

const receiver = await receiverPerFile();
const world = databasePerTest({ retryPolicy: "1m" });
const { open, countStates } = world;
const paid = { tenant: "acme", type: "order.paid", data: 1 };
const sent = { ...paid, type: "order.sent" };

/** An endpoint with dead letters of these events. */
async function withDead(instance: TestInstance, inputs: readonly (typeof paid)[], tenant = "acme") {
  const endpoint = await newEndpoint(instance, receiver, {}, tenant);
  receiver.answer(endpoint.path, 400);
  for (const input of inputs) await instance.hooks.publish({ ...input, tenant });
  await instance.settle();
  return endpoint;
}

/** Stores dead letters without sending anything. */
async function storeDead(endpointId: string, count: number): Promise<void> {
  await world.pool.query(
    `with stored as (
       insert into posthorn.events (id, tenant, type, api_version, payload)
       select posthorn.uuidv7(now()), 'acme', 'order.paid', '1', '1' from generate_series(1, $2::integer)
       returning id
     )
     insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
     select posthorn.uuidv7(now()), stored.id, $1::uuid, 'dead', 'rejected', 1, 0, now() from stored`,
    [endpointId, count],
  );
}

test("only dead letters that match every filter are counted and deleted", async () => {
  const instance = await open();
  const { hooks } = instance;
  await hooks.tenants.upsert("rivals", {});
  const { id: endpoint, path } = await withDead(instance, [paid, paid, sent]);
  await withDead(instance, [paid], "rivals");
  receiver.answer(path, [200, 500]);
  await publishTimes(instance, 2, paid);
  await instance.settle();
  const filter = { tenant: "acme", endpoint, type: "order.paid", reason: "rejected" } as const;
  expect(await hooks.deliveries.countDead(filter)).toMatchObject({ count: 2, isExact: true });
  expect(await hooks.deliveries.countDead()).toMatchObject({ count: 4 });
  expect(await hooks.deliveries.deleteDead(filter)).toEqual({ deleted: 2, nextCursor: null });
  expect(await countStates()).toEqual({ dead: 2, success: 1, failed: 1 });
  const { data: left } = await hooks.deliveries.list({ state: "dead" });
  expect(left.map(({ tenant, eventType }) => [tenant, eventType]).toSorted()).toEqual([
    ["acme", "order.sent"],
    ["rivals", "order.paid"],
  ]);
  const inAnHour = new Date(Date.now() + 3_600_000);
  for (const range of [
    { createdAfter: inAnHour },
    { createdBefore: new Date(0) },
    { reason: "gone" as const },
  ])
    expect(await hooks.deliveries.deleteDead(range)).toEqual({ deleted: 0, nextCursor: null });
});

test("dead letters that die after they were counted are kept", async () => {
  const instance = await open();
  const { deliveries } = instance.hooks;
  const { path } = await withDead(instance, [paid]);
  const { deadBefore } = await deliveries.countDead();
  await instance.advance(10);
  receiver.answer(path, 400);
  await instance.hooks.publish(paid);
  await instance.settle();
  expect(await deliveries.deleteDead({ deadBefore })).toEqual({ deleted: 1, nextCursor: null });
  expect(await countStates()).toEqual({ dead: 1 });
});

test("a call deletes 10,000 and returns where the next one continues", async () => {
  const instance = await open();
  const { deliveries } = instance.hooks;
  const { lane } = await newEndpoint(instance, receiver);
  await storeDead(lane, 10_001);
  const { deleted, nextCursor } = await deliveries.deleteDead({ tenant: "acme" });
  expect([deleted, typeof nextCursor]).toEqual([10_000, "string"]);
  expect(await deliveries.deleteDead({ tenant: "acme", cursor: nextCursor ?? "" })).toEqual({
    deleted: 1,
    nextCursor: null,
  });
  expect(await countStates()).toEqual({});
});

test("deleting dead letters that hold their subjects releases the next deliveries", async () => {
  const instance = await open();
  const settings = { ordering: "fifo", fifoOnDead: "hold" } as const;
  const endpoints = [
    await newEndpoint(instance, receiver, settings),
    await newEndpoint(instance, receiver, settings),
  ];
  for (const { path } of endpoints) receiver.answer(path, [400, 200]);
  await publishTimes(instance, 2, { ...paid, subject: "order-1" } as never);
  await instance.settle();
  expect(await countStates()).toEqual({ dead: 2, pending: 2 });
  expect(await instance.hooks.deliveries.deleteDead()).toMatchObject({ deleted: 2 });
  for (const { path } of endpoints) await receiver.received(2, { path });
  await instance.settle();
  expect(await countStates()).toEqual({ success: 2 });
});

test("an unknown filter, an invalid reason and a cursor of another list are refused", async () => {
  const { hooks } = await open();
  const { nextCursor } = await hooks.events.list({ limit: 1 });
  expect(nextCursor).toBeNull();
  for (const filter of [{ sate: "dead" }, { reason: "no" }, { cursor: "ZXZlbnRzOjE" }, { deadBefore: "now" }])
    await expect(hooks.deliveries.deleteDead(filter as never)).rejects.toMatchObject({
      code: "invalid_query",
    });
});
