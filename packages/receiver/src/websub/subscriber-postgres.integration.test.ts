// The subscriber on PostgreSQL: in several processes, and after a crash.
import { postgresStore } from "@posthorn/receiver/postgres";
import { createSubscriber } from "@posthorn/receiver/websub";
import { expect, onTestFinished, test } from "vitest";
import { createPool } from "../../../../tests/support/database/postgres.ts";
import { gate } from "../../../../tests/support/gate.ts";
import { openPool, openPostgres } from "../../../../tests/support/receiver/postgres-world.ts";
import { elapse, openSubscriber, subscriptionsOf } from "../../../../tests/support/receiver/websub.ts";

const DAY_MS = 86_400_000;

const byPg = openPostgres(openPool);

test("one of ten processes renews", async () => {
  const world = await byPg();
  const { hub, follow } = await openSubscriber(subscriptionsOf(byPg));
  await follow();
  await elapse(world, 7 * DAY_MS);
  const renewed = await Promise.all(
    Array.from({ length: 10 }, () => {
      const pool = createPool(world.connectionString, { max: 1 });
      onTestFinished(() => pool.end());
      return createSubscriber({ callbackUrl: "https://example.com/", store: postgresStore(pool) }).renew();
    }),
  );
  expect(renewed.toSorted()).toEqual([...Array(9).fill(0), 1]);
  expect(hub.requests).toHaveLength(2);
});

test("a process that crashes during a request leaves the subscription to the next one", async () => {
  const { store } = await byPg();
  const { hub, subscriber, topic, elapse: wait } = await openSubscriber(subscriptionsOf(byPg));
  const response = gate();
  hub.page("/hub", () => response.opened.then(() => ({ status: 202 })));
  const subscribing = subscriber.subscribe(topic);
  await expect.poll(() => hub.requests.length).toBe(1);
  const request = hub.last;
  expect((await hub.verify(request)).status).toBe(200);
  expect((await hub.distribute(request, "news")).status).toBe(200);
  await wait(7 * DAY_MS);
  const renewing = subscriber.renew();
  await expect.poll(() => hub.requests.length).toBe(2);

  // For the next process the first one is gone: neither request has returned.
  const next = createSubscriber({ callbackUrl: request.callback.replace(/[^/]+$/, ""), store });
  expect(await next.renew()).toBe(0);
  hub.page("/hub", { status: 202 });
  await wait(60_000);
  expect(await next.renew()).toBe(1);
  expect(hub.last).toEqual(request);
  expect((await hub.verify(hub.last)).status).toBe(200);
  expect((await hub.distribute(request, "news")).headers.get("posthorn-duplicate")).toBe("true");
  response.open();
  await Promise.all([subscribing, renewing]);
});
