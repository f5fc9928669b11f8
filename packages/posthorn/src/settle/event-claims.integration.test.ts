// Deliveries without a queue row, which their events claim.
import { afterEach, expect, test, vi } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { eventuallyPasses } from "../../../../tests/support/eventually.ts";
import { gate } from "../../../../tests/support/gate.ts";
import { installationGauges } from "../storage/queries/installation/gauges.ts";
import type { TestInstance } from "../testing/index.ts";
import { EventClaims } from "./event-claims.ts";

const receiver = await receiverPerFile();
const world = databasePerTest();
afterEach(() => {
  vi.restoreAllMocks();
});

const order = { tenant: "acme", type: "order.paid", data: {} };

/** An endpoint whose lane this process owns, so that its events claim their deliveries. */
async function openLane(): Promise<{ instance: TestInstance; path: string }> {
  const instance = await world.open();
  const { path } = await newEndpoint(instance, receiver);
  await instance.hooks.publish(order);
  await instance.settle();
  return { instance, path };
}

async function claimingEvents(): Promise<number> {
  const { rows } = await world.pool.query("select count(claims)::integer as count from posthorn.events");
  return rows[0].count;
}

/** Publishes an event whose receiver does not respond until the gate is opened. */
async function heldDelivery({ instance: { hooks }, path }: Awaited<ReturnType<typeof openLane>>) {
  const held = gate();
  receiver.answer(path, [{ until: held.opened }]);
  const { id } = await hooks.publish(order);
  await receiver.received(2, { path });
  const { data } = await hooks.deliveries.list({ tenant: "acme", state: "in_flight" });
  expect(data.map(({ eventId }) => eventId)).toEqual([id]);
  return { held, deliveryId: data[0]?.id as string };
}

test("a delivery in flight without a queue row is found, listed and counted like any other", async () => {
  const lane = await openLane();
  const { hooks } = lane.instance;
  // it gets no queue row, however long the test takes
  vi.spyOn(EventClaims.prototype, "isOverdue", "get").mockReturnValue(false);
  const { held, deliveryId } = await heldDelivery(lane);
  expect(await claimingEvents()).toBe(1);
  expect(await hooks.deliveries.get(deliveryId)).toMatchObject({ state: "in_flight", attemptCount: 0 });
  expect(await hooks.stats.get()).toMatchObject({ now: { inFlight: { count: 1 } } });
  expect(await installationGauges(hooks.db)).toMatchObject({ webhook_queue_depth: 1 });
  await expect(hooks.deliveries.retry(deliveryId)).rejects.toMatchObject({ code: "delivery_in_flight" });
  held.open();
  await lane.instance.settle();
  expect(await world.countStates()).toEqual({ success: 2 });
  expect(await world.countRows("queue", "attempt_log", "unfinished")).toEqual([0, 0, 0]);
});

test("a delivery that is not finished after a second gets a queue row, and is settled from there", async () => {
  const lane = await openLane();
  const { held } = await heldDelivery(lane);
  await lane.instance.advance(1_500);
  await eventuallyPasses(async () =>
    expect(await world.countRows("queue", "deliveries", "unfinished")).toEqual([1, 1, 1]),
  );
  held.open();
  await lane.instance.settle();
  expect(await world.countStates()).toEqual({ success: 2 });
  expect(await world.countRows("queue", "attempt_log")).toEqual([0, 0]);
});

test("a dead letter that is deleted at once is not claimed again by its event", async () => {
  const { instance, path } = await openLane();
  const { hooks } = instance;
  receiver.answer(path, [{ status: 400 }]);
  const other = await newEndpoint(instance, receiver);
  await hooks.publish(order);
  await instance.settle();
  const { data } = await hooks.deliveries.list({ tenant: "acme", state: "dead" });
  expect(data).toHaveLength(1);
  await hooks.deliveries.delete(data[0]?.id as string);
  expect(await world.countStates()).toEqual({ success: 2 });
  await instance.close();
  expect(await world.countStates()).toEqual({ success: 2 });
  expect(receiver.requestsTo(other.path)).toHaveLength(1);
});

test("a process that stops releases what its events claim, and another one sends it", async () => {
  const lane = await openLane();
  const { held } = await heldDelivery(lane);
  await lane.instance.hooks.stop({ graceMs: 0 });
  expect(await world.countStates()).toEqual({ success: 1, pending: 1 });
  held.open();
  const other = await world.open();
  await other.settle();
  expect(await world.countStates()).toEqual({ success: 2 });
});

test("a delivery whose success was lost by a failover is sent again", async () => {
  const { instance, path } = await openLane();
  await instance.hooks.publish(order);
  await instance.settle();
  const client = await world.pool.connect();
  client.on("error", () => {});
  try {
    // the standby lacks the last commits, and all connections end
    await client.query(`
      begin;
      update posthorn.workers set claims_since = posthorn.lowest_uuid_at(to_timestamp(0));
      delete from posthorn.deliveries d using posthorn.events e where e.id = d.event_id and e.claims is not null;
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid();
      commit`);
  } finally {
    client.release(true);
  }
  await receiver.received(3, { path });
  await eventuallyPasses(async () => expect(await world.countStates()).toEqual({ success: 2 }));
});
