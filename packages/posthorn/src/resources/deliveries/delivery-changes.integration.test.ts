// Manual changes of one delivery: cancelling it and deleting a dead letter, also if others wait behind it.
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishTimes,
} from "../../../../../tests/support/database/database-per-test.ts";
import { readPages } from "../../../../../tests/support/database/resources.ts";
import { gate } from "../../../../../tests/support/gate.ts";
import { startTestReceiver, type TestReceiver } from "../../../../../tests/support/servers/test-receiver.ts";
import type { EndpointInput } from "../endpoints/settings.ts";

let receiver: TestReceiver;

beforeEach(async () => {
  receiver = await startTestReceiver();
});
afterEach(async () => {
  await receiver.close();
});

const { open, countStates } = databasePerTest({ retryPolicy: "1h,1h" });
const paid = { tenant: "acme", type: "order.paid", data: 1 };

/** Publishes events to a new endpoint. `ids` are those of their deliveries, in the order of their sequences. */
async function openWith(events: number, input: Partial<EndpointInput> = {}) {
  const instance = await open();
  const { deliveries } = instance.hooks;
  const { path, id: endpoint } = await newEndpoint(instance, receiver, input);
  const subject = input.ordering === "fifo" ? "order-1" : undefined;
  await publishTimes(instance, events, { ...paid, subject });
  const { data } = await deliveries.list({ endpoint });
  const ids = data.toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0)).map(({ id }) => id);
  return { ...instance, deliveries, path, ids, id: ids[0] as string };
}

test("a cancelled delivery is dead and is not retried", async () => {
  receiver.answer = () => 500;
  const { deliveries, id, settle, advance } = await openWith(1);
  await settle();
  await deliveries.cancel(id);
  expect(await deliveries.get(id)).toMatchObject({
    state: "dead",
    deadReason: "cancelled",
    attemptCount: 1,
    nextRetryAt: null,
  });
  await advance(3 * 3_600_000);
  await settle();
  expect(receiver.arrivals).toHaveLength(1);
  expect((await deliveries.list({ reason: "cancelled" })).data).toHaveLength(1);
});

test("a delivery that is in flight or has ended cannot be cancelled", async () => {
  const { opened, open: answer } = gate(200);
  receiver.answer = () => opened;
  const { deliveries, id, settle } = await openWith(1);
  await receiver.until("it is being sent", () => receiver.arrivals.length === 1);
  const inFlight = { code: "delivery_in_flight", status: 409 };
  await expect(deliveries.cancel(id)).rejects.toMatchObject(inFlight);
  answer();
  await settle();
  await expect(deliveries.cancel(id)).rejects.toMatchObject({ code: "delivery_finished", status: 409 });
  expect(await deliveries.get(id)).toMatchObject({ state: "success" });
});

test("cancelling a delivery releases the next one of its subject", async () => {
  receiver.answer = ({ sequence }) => (sequence === 1 ? 500 : 200);
  const { deliveries, id, path, settle } = await openWith(3, { ordering: "fifo" });
  await settle();
  expect(receiver.sequences(path)).toEqual([1]);
  await deliveries.cancel(id);
  await receiver.until("the others come", () => receiver.arrivals.length === 3);
  await settle();
  expect(receiver.sequences(path)).toEqual([1, 2, 3]);
  expect(await countStates()).toEqual({ dead: 1, success: 2 });
});

test("with fifoOnDead hold, a cancelled delivery holds its subject until it is deleted", async () => {
  receiver.answer = ({ sequence }) => (sequence === 1 ? 500 : 200);
  const { deliveries, id, path, settle } = await openWith(2, { ordering: "fifo", fifoOnDead: "hold" });
  await settle();
  await deliveries.cancel(id);
  await settle();
  expect(receiver.sequences(path)).toEqual([1]);
  await deliveries.delete(id);
  await receiver.until("the next one comes", () => receiver.arrivals.length === 2);
  await settle();
  expect(receiver.sequences(path)).toEqual([1, 2]);
  await expect(deliveries.get(id)).rejects.toMatchObject({ code: "delivery_not_found" });
});

test("only dead deliveries of the given tenant can be deleted", async () => {
  receiver.answer = ({ attempt }) => (attempt === 1 ? 400 : 200);
  const { deliveries, ids, settle } = await openWith(2);
  const [dead, delivered] = ids as [string, string];
  await settle();
  await deliveries.retry(delivered);
  await settle();
  await expect(deliveries.delete(delivered)).rejects.toMatchObject({ code: "delivery_not_dead" });
  for (const change of ["delete", "cancel", "retry"] as const) {
    const notFound = { code: "delivery_not_found" };
    await expect(deliveries[change](dead, { tenant: "other" })).rejects.toMatchObject(notFound);
    await expect(deliveries[change]("dlv_nothing")).rejects.toMatchObject(notFound);
  }
  await deliveries.delete(dead, { tenant: "acme" });
  expect(await countStates()).toEqual({ success: 1 });
});

test("the retry queue is ordered by next attempt, for all, a tenant or an endpoint", async () => {
  const instance = await open();
  const { hooks } = instance;
  await hooks.tenants.upsert("other");
  const retrying = async (retryPolicy: string, tenant: string) =>
    (await newEndpoint(instance, receiver, { retryPolicy }, tenant)).id;
  const late = await retrying("3h", "acme");
  const early = await retrying("1h", "acme");
  const others = await retrying("2h", "other");
  receiver.answer = () => 500;
  await publishTimes(instance, 3, paid);
  await publishTimes(instance, 2, { ...paid, tenant: "other" });
  await instance.settle();
  const endpointsOf = async (query: object) => {
    const pages = await readPages((cursor) => hooks.deliveries.retryQueue({ ...query, limit: 2, cursor }));
    const seen = pages.flat();
    const times = seen.map(({ nextRetryAt }) => nextRetryAt?.getTime() ?? 0);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    expect(seen.every(({ state }) => state === "failed")).toBe(true);
    return seen.map(({ endpointId }) => endpointId);
  };
  expect(await endpointsOf({})).toEqual([early, early, early, others, others, late, late, late]);
  expect(await endpointsOf({ tenant: "acme" })).toEqual([early, early, early, late, late, late]);
  expect(await endpointsOf({ endpoint: late })).toEqual([late, late, late]);
  expect(await endpointsOf({ tenant: "other", endpoint: late })).toEqual([]);
});
