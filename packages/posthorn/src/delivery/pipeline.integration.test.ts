// The life of an event, from publish to a settled delivery, on real PostgreSQL and real HTTP.
import { expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  receiverPerFile,
  settleAfter,
} from "../../../../tests/support/database/database-per-test.ts";

const minute = 60_000;
const hour = 60 * minute;

const receiver = await receiverPerFile();
const world = databasePerTest();

test("an attempt records how long it waited since the event or since it was due, and nothing after a manual retry", async () => {
  const instance = await world.open();
  const { path, id } = await newEndpoint(instance, receiver, { retryPolicy: "10m" });
  receiver.answer(path, [{ status: 500, body: "no" }, 500, 200]);
  await instance.hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
  await instance.settle();
  await settleAfter(instance, hour);
  const [delivery] = (await instance.hooks.deliveries.list({ endpoint: id })).data;
  expect(delivery).toMatchObject({ state: "dead", deadReason: "attempts_exhausted", nextRetryAt: null });
  await instance.hooks.deliveries.retry(delivery?.id as string);
  await instance.settle();
  const { attempts } = await instance.hooks.deliveries.get(delivery?.id as string);
  const [first, second, third] = attempts.map(({ phases }) => phases.queueMs);
  expect(first).toBeLessThan(minute);
  // an hour later, of which ten minutes, give or take one, were the policy's
  expect(second).toBeGreaterThan(48 * minute);
  expect(second).toBeLessThan(52 * minute);
  expect(third).toBeNull();
  expect(attempts[0]?.phases).toMatchObject({ connectMs: expect.any(Number), tlsMs: null });
  expect(String(attempts[0]?.responseBody)).toBe("no");
  const { data } = await instance.hooks.endpoints.attempts("acme", id);
  expect(data.map(({ phases }) => phases)).toEqual(attempts.map(({ phases }) => phases).reverse());
});
