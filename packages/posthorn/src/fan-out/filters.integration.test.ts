// An endpoint with a filter gets only matching events, however they were published.
import { expect, test } from "vitest";
import {
  databasePerFile,
  newEndpoint,
  newTenant,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import type { PublishInput } from "../event/validate.ts";
import type { EndpointInput } from "../resources/endpoints/settings.ts";

const receiver = await receiverPerFile();
const world = await databasePerFile();
const [a, api] = [await world.open(), await world.open({ started: false })];
await api.hooks.start({ role: "api" });

const large = { filter: { data: { amount: { $gte: 100 } } } };

/** Each test has its own tenant. */
async function openTenant() {
  const tenant = await newTenant(a);
  const paid = (amount: number, more: Partial<PublishInput> = {}): PublishInput => ({
    tenant,
    type: "order.paid",
    data: { amount },
    ...more,
  });
  return {
    tenant,
    paid,
    publish: (amount: number) => a.hooks.publish(paid(amount)),
    publishInTransaction: (amount: number, more: Partial<PublishInput> = {}) =>
      inTransaction(world.pool, (tx) => a.hooks.publish(paid(amount, more), { tx })),
    endpoint: (options: Partial<EndpointInput> = {}) => newEndpoint(a, receiver, options, tenant),
  };
}

const bodiesAt = (path: string) => receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)));
const amountsAt = (path: string) =>
  bodiesAt(path)
    .map(({ data }) => data.amount)
    .toSorted((x, y) => x - y);

test("an endpoint with a filter gets matching events only, however they were published", async () => {
  const { tenant, endpoint, publish, publishInTransaction } = await openTenant();
  const [filtered, all] = [await endpoint(large), await endpoint()];
  expect(await publish(99)).toMatchObject({ deliveries: 1 });
  expect(await publish(100)).toMatchObject({ deliveries: 2 });
  for (const amount of [98, 101]) await publishInTransaction(amount);
  for (const amount of [97, 102])
    await world.pool.query("select posthorn.publish($1, 'order.paid', $2::text)", [
      tenant,
      `{"amount": ${amount}}`,
    ]);
  await a.settle();
  expect(amountsAt(filtered.path)).toEqual([100, 101, 102]);
  expect(amountsAt(all.path)).toEqual([97, 98, 99, 100, 101, 102]);
});

test("a changed filter applies to the next event, in every process", async () => {
  const { tenant, endpoint, paid } = await openTenant();
  const { id, lane } = await endpoint();
  expect(await api.hooks.publish(paid(1))).toMatchObject({ deliveries: 1 });
  await a.hooks.endpoints.update(tenant, id, large);
  expect(await api.hooks.publish(paid(2))).toMatchObject({ deliveries: 0 });
  await a.hooks.endpoints.update(tenant, id, { filter: null });
  expect(await api.hooks.publish(paid(3))).toMatchObject({ deliveries: 1 });
  // one that this version cannot parse matches everything
  const unknown = `update posthorn.endpoints set filter = '{"data": {"$near": 1}}' where id = $1`;
  await a.hooks.endpoints.update(tenant, id, large);
  await world.pool.query(unknown, [lane]);
  expect(await api.hooks.publish(paid(4))).toMatchObject({ deliveries: 1 });
});

test("an event that is filtered out does not delay its subject", async () => {
  const { endpoint, paid, publishInTransaction } = await openTenant();
  const { path } = await endpoint({ ordering: "fifo", ...large });
  const subject = { subject: "order-1" };
  const sequences: (number | null)[] = [];
  for (const amount of [1, 100, 2, 3, 101])
    sequences.push((await a.hooks.publish(paid(amount, subject))).sequence);
  for (const amount of [4, 102]) await publishInTransaction(amount, subject);
  await a.settle();
  expect(sequences).toEqual([1, 2, 3, 4, 5]);
  expect(bodiesAt(path).map(({ sequence }) => sequence)).toEqual([2, 5, 7]);
});

test("a test event ignores the filter, a system event does not", async () => {
  const { tenant, endpoint, publish } = await openTenant();
  const system = (reason: string) => ({ events: ["webhook.endpoint.*"], filter: { data: { reason } } });
  const filtered = await endpoint(large);
  const [gone, failures] = [await endpoint(system("gone")), await endpoint(system("failures"))];
  await a.hooks.endpoints.test(tenant, filtered.id);
  await a.settle();
  expect(receiver.requestsTo(filtered.path)).toHaveLength(1);
  receiver.answer(filtered.path, 410);
  await publish(100);
  await a.settle();
  await a.settle();
  expect(receiver.requestsTo(gone.path)).toHaveLength(1);
  expect(receiver.requestsTo(failures.path)).toHaveLength(0);
});
