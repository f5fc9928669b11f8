// What a person does about one delivery: calling it off and deleting a dead letter, also where others wait behind it.
import { afterEach, beforeEach, expect, test } from "vitest";
import { databasePerTest, gate, publishTimes } from "../../../../../tests/support/database-per-test.ts";
import { startTestReceiver, type TestReceiver } from "../../../../../tests/support/test-receiver.ts";
import type { TestInstance } from "../../testing/index.ts";
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
const ofSubject = { ...paid, subject: "order-1" };

async function endpointOf({ hooks }: TestInstance, input: Partial<EndpointInput> = {}): Promise<string> {
  const url = `${receiver.url}/in`;
  const { endpoint } = await hooks.endpoints.create("acme", { url, events: ["*"], ...input });
  return endpoint.id;
}

/** In the order of their sequences, if they have any. */
async function deliveriesOf({ hooks }: TestInstance, endpoint: string) {
  const { data } = await hooks.deliveries.list({ endpoint });
  return data.toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
}

test("a cancelled delivery is dead and is not retried", async () => {
  const instance = await open();
  const { hooks } = instance;
  const endpoint = await endpointOf(instance);
  receiver.answer = () => 500;
  await hooks.publish(paid);
  await instance.settle();
  const [failed] = await deliveriesOf(instance, endpoint);
  const id = failed?.id as string;
  await hooks.deliveries.cancel(id);
  expect(await hooks.deliveries.get(id)).toMatchObject({
    state: "dead",
    deadReason: "cancelled",
    attemptCount: 1,
    nextRetryAt: null,
  });
  await instance.advance(3 * 3_600_000);
  await instance.settle();
  expect(receiver.arrivals).toHaveLength(1);
  expect((await hooks.deliveries.list({ reason: "cancelled" })).data).toHaveLength(1);
});

test("a delivery that is in flight or has ended cannot be cancelled", async () => {
  const instance = await open();
  const { hooks } = instance;
  const endpoint = await endpointOf(instance);
  const { opened, open: answer } = gate(200);
  receiver.answer = () => opened;
  await hooks.publish(paid);
  await receiver.until("it is being sent", () => receiver.arrivals.length === 1);
  const [flying] = await deliveriesOf(instance, endpoint);
  const id = flying?.id as string;
  await expect(hooks.deliveries.cancel(id)).rejects.toMatchObject({
    code: "delivery_in_flight",
    status: 409,
  });
  answer();
  await instance.settle();
  await expect(hooks.deliveries.cancel(id)).rejects.toMatchObject({ code: "delivery_over", status: 409 });
  expect(await hooks.deliveries.get(id)).toMatchObject({ state: "success" });
});

test("cancelling a delivery releases the next one of its subject", async () => {
  const instance = await open();
  const endpoint = await endpointOf(instance, { ordering: "fifo" });
  receiver.answer = ({ sequence }) => (sequence === 1 ? 500 : 200);
  await publishTimes(instance, 3, ofSubject);
  await instance.settle();
  expect(receiver.sequences("/in")).toEqual([1]);
  const [first] = await deliveriesOf(instance, endpoint);
  await instance.hooks.deliveries.cancel(first?.id as string);
  await receiver.until("the others come", () => receiver.arrivals.length === 3);
  await instance.settle();
  expect(receiver.sequences("/in")).toEqual([1, 2, 3]);
  expect(await countStates()).toEqual({ dead: 1, success: 2 });
});

test("with fifoOnDead hold, a cancelled delivery holds its subject until it is deleted", async () => {
  const instance = await open();
  const { hooks } = instance;
  const endpoint = await endpointOf(instance, { ordering: "fifo", fifoOnDead: "hold" });
  receiver.answer = ({ sequence }) => (sequence === 1 ? 500 : 200);
  await publishTimes(instance, 2, ofSubject);
  await instance.settle();
  const [first] = await deliveriesOf(instance, endpoint);
  const id = first?.id as string;
  await hooks.deliveries.cancel(id);
  await instance.settle();
  expect(receiver.sequences("/in")).toEqual([1]);
  await hooks.deliveries.delete(id);
  await receiver.until("the next one comes", () => receiver.arrivals.length === 2);
  await instance.settle();
  expect(receiver.sequences("/in")).toEqual([1, 2]);
  await expect(hooks.deliveries.get(id)).rejects.toMatchObject({ code: "delivery_not_found" });
});

test("a cancelled delivery can be retried", async () => {
  const instance = await open();
  const { hooks } = instance;
  const endpoint = await endpointOf(instance);
  receiver.answer = ({ attempt }) => (attempt === 1 ? 500 : 200);
  await hooks.publish(paid);
  await instance.settle();
  const [failed] = await deliveriesOf(instance, endpoint);
  const id = failed?.id as string;
  await hooks.deliveries.cancel(id);
  await hooks.deliveries.retry(id);
  await instance.settle();
  expect(await hooks.deliveries.get(id)).toMatchObject({ state: "success", replayCount: 0 });
});

test("only dead deliveries of the given tenant can be deleted", async () => {
  const instance = await open();
  const { hooks } = instance;
  const endpoint = await endpointOf(instance);
  receiver.answer = ({ attempt }) => (attempt === 1 ? 400 : 200);
  await publishTimes(instance, 2, paid);
  await instance.settle();
  const [dead, delivered] = await deliveriesOf(instance, endpoint);
  await hooks.deliveries.retry(delivered?.id as string);
  await instance.settle();
  await expect(hooks.deliveries.delete(delivered?.id as string)).rejects.toMatchObject({
    code: "delivery_not_dead",
  });
  for (const change of ["delete", "cancel", "retry"] as const) {
    await expect(hooks.deliveries[change](dead?.id as string, { tenant: "other" })).rejects.toMatchObject({
      code: "delivery_not_found",
    });
    await expect(hooks.deliveries[change]("dlv_nothing")).rejects.toMatchObject({
      code: "delivery_not_found",
    });
  }
  await hooks.deliveries.delete(dead?.id as string, { tenant: "acme" });
  expect(await countStates()).toEqual({ success: 1 });
});

test("the retry queue is ordered by next attempt, for all, a tenant or an endpoint", async () => {
  const instance = await open();
  const { hooks } = instance;
  await hooks.tenants.upsert("other");
  const [late, early] = [
    await endpointOf(instance, { retryPolicy: "3h" }),
    await endpointOf(instance, { retryPolicy: "1h" }),
  ];
  const { endpoint: others } = await hooks.endpoints.create("other", {
    url: `${receiver.url}/other`,
    events: ["*"],
    retryPolicy: "2h",
  });
  receiver.answer = ({ path }) => (path === "/ok" ? 200 : 500);
  await publishTimes(instance, 3, paid);
  await publishTimes(instance, 2, { ...paid, tenant: "other" });
  await instance.settle();
  const endpointsOf = async (query: object) => {
    const seen = [];
    for (let cursor: string | undefined; ; ) {
      const page = await hooks.deliveries.retryQueue({ ...query, limit: 2, cursor });
      seen.push(...page.data);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    const times = seen.map(({ nextRetryAt }) => nextRetryAt?.getTime() ?? 0);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    expect(seen.every(({ state }) => state === "failed")).toBe(true);
    return seen.map(({ endpointId }) => endpointId);
  };
  expect(await endpointsOf({})).toEqual([early, early, early, others.id, others.id, late, late, late]);
  expect(await endpointsOf({ tenant: "acme" })).toEqual([early, early, early, late, late, late]);
  expect(await endpointsOf({ endpoint: late })).toEqual([late, late, late]);
  expect(await endpointsOf({ tenant: "other", endpoint: late })).toEqual([]);
});

test("a manually retried delivery leaves the retry queue", async () => {
  const instance = await open();
  const { hooks } = instance;
  const endpoint = await endpointOf(instance);
  receiver.answer = () => 500;
  await hooks.publish(paid);
  await instance.settle();
  const [failed] = await deliveriesOf(instance, endpoint);
  const { opened, open: answer } = gate(200);
  receiver.answer = () => opened;
  expect((await hooks.deliveries.retryQueue()).data).toHaveLength(1);
  await hooks.deliveries.retry(failed?.id as string);
  expect((await hooks.deliveries.retryQueue()).data).toHaveLength(0);
  answer();
});

test("the retry queue refuses a cursor of another list", async () => {
  const { hooks } = await open({ started: false });
  const cursor = Buffer.from("retry-queue:x").toString("base64url");
  await expect(hooks.deliveries.retryQueue({ cursor })).rejects.toMatchObject({
    code: "invalid_query",
    problems: [{ pointer: "/cursor" }],
  });
  await expect(hooks.deliveries.retryQueue({ state: "dead" } as never)).rejects.toMatchObject({
    problems: [{ pointer: "/state" }],
  });
});
