// An endpoint with a filter gets what it asks for and nothing else, whichever way the event came.
import { parseId } from "@posthorn/wire";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { databasePerTest } from "../../../../tests/support/database-per-test.ts";
import { startTestReceiver, type TestReceiver } from "../../../../tests/support/test-receiver.ts";
import type { PublishInput } from "../event/validate.ts";
import type { EndpointInput } from "../resources/endpoints/settings.ts";
import { type ScriptedReceiver, startScriptedReceiver, type TestInstance } from "../testing/index.ts";

let receiver: ScriptedReceiver;
let orderReceiver: TestReceiver;

beforeEach(async () => {
  receiver = await startScriptedReceiver();
  orderReceiver = await startTestReceiver();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await receiver.close();
  await orderReceiver.close();
});

const world = databasePerTest();

async function endpointOn(instance: TestInstance, path: string, options: Partial<EndpointInput> = {}) {
  const url = receiver.url + path;
  const { endpoint } = await instance.hooks.endpoints.create("acme", { url, events: ["*"], ...options });
  return endpoint.id;
}

const paid = (amount: number, more: Partial<PublishInput> = {}): PublishInput => ({
  tenant: "acme",
  type: "order.paid",
  data: { amount },
  ...more,
});

const large = { filter: { data: { amount: { $gte: 100 } } } };

function amountsAt(path: string): number[] {
  return receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)).data.amount);
}

async function publishInTransaction({ hooks }: TestInstance, input: PublishInput): Promise<string> {
  const client = await world.pool.connect();
  try {
    await client.query("begin");
    const { id } = await hooks.publish(input, { tx: client });
    await client.query("commit");
    return id;
  } finally {
    client.release();
  }
}

test("an endpoint with a filter gets matching events only, however they were published", async () => {
  const a = await world.open();
  await endpointOn(a, "/large", large);
  await endpointOn(a, "/all");
  expect(await a.hooks.publish(paid(99))).toMatchObject({ deliveries: 1 });
  expect(await a.hooks.publish(paid(100))).toMatchObject({ deliveries: 2 });
  await publishInTransaction(a, paid(98));
  await publishInTransaction(a, paid(101));
  for (const amount of [97, 102])
    await world.pool.query(
      `select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '{"amount": ${amount}}')`,
    );
  await a.settle();
  expect(amountsAt("/large").toSorted()).toEqual([100, 101, 102]);
  expect(amountsAt("/all").toSorted((x, y) => x - y)).toEqual([97, 98, 99, 100, 101, 102]);
});

test("a new or removed filter applies to the next event, in every process", async () => {
  const a = await world.open();
  const b = await world.open();
  const id = await endpointOn(a, "/in");
  expect(await b.hooks.publish(paid(1))).toMatchObject({ deliveries: 1 });
  await a.hooks.endpoints.update("acme", id, large);
  expect(await b.hooks.publish(paid(2))).toMatchObject({ deliveries: 0 });
  await a.hooks.endpoints.update("acme", id, { filter: null });
  expect(await b.hooks.publish(paid(3))).toMatchObject({ deliveries: 1 });
});

test("a payload is parsed once for all filters of an event, and not at all where there is none", async () => {
  const a = await world.open();
  await endpointOn(a, "/all");
  await endpointOn(a, "/other", { events: ["invoice.*"], filter: { data: { amount: 1 } } });
  await a.hooks.publish(paid(1));
  const parse = vi.spyOn(JSON, "parse");
  const parsedTexts = () => parse.mock.calls.filter(([text]) => String(text).includes('"amount":7')).length;
  await a.hooks.publish(paid(7));
  expect(parsedTexts()).toBe(0);
  for (let n = 0; n < 4; n += 1) await endpointOn(a, `/large-${n}`, large);
  expect(await a.hooks.publish(paid(70))).toMatchObject({ deliveries: 1 });
  expect(parsedTexts()).toBe(1);
});

test("an event that is filtered out does not delay its subject", async () => {
  const a = await world.open();
  const fifo = { url: `${orderReceiver.url}/fifo`, events: ["*"], ordering: "fifo", ...large } as const;
  await a.hooks.endpoints.create("acme", fifo);
  const subject = "order-1";
  const sequences: (number | null)[] = [];
  for (const amount of [1, 100, 2, 3, 101]) {
    sequences.push((await a.hooks.publish(paid(amount, { subject }))).sequence);
  }
  await publishInTransaction(a, paid(4, { subject }));
  await publishInTransaction(a, paid(102, { subject }));
  await a.settle();
  expect(sequences).toEqual([1, 2, 3, 4, 5]);
  expect(orderReceiver.sequences("/fifo", subject)).toEqual([2, 5, 7]);
  expect(await world.countStates()).toEqual({ success: 3 });
});

test("a test event ignores the filter, a system event does not", async () => {
  const a = await world.open();
  const filtered = await endpointOn(a, "/filtered", large);
  const system = { events: ["webhook.endpoint.*"], filter: { data: { reason: "gone" } } };
  await endpointOn(a, "/gone", system);
  await endpointOn(a, "/failures", { ...system, filter: { data: { reason: "failures" } } });
  await a.hooks.endpoints.test("acme", filtered);
  await a.settle();
  expect(receiver.requestsTo("/filtered")).toHaveLength(1);
  receiver.answer("/filtered", 410);
  await a.hooks.publish(paid(100));
  await a.settle();
  await a.settle();
  expect(receiver.requestsTo("/gone")).toHaveLength(1);
  expect(receiver.requestsTo("/failures")).toHaveLength(0);
});

test("a filter that this version cannot parse matches everything", async () => {
  const a = await world.open();
  const id = await endpointOn(a, "/in", large);
  await world.pool.query(`update posthorn.endpoints set filter = '{"data": {"$near": 1}}' where id = $1`, [
    parseId("ep", id),
  ]);
  expect(await a.hooks.publish(paid(1))).toMatchObject({ deliveries: 1 });
});
