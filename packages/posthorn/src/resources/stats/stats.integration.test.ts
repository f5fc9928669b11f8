import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../tests/support/database/database-per-test.ts";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";
import { deliveryStats } from "../../storage/queries/deliveries/stats.ts";

const database = databasePerTest({ retryPolicy: "1m,1h" });

async function makeWorld() {
  const receiver = await startReceiver();
  const instance = await database.open();
  const { hooks } = instance;
  const endpointFor = async (tenant: string, path: string): Promise<string> => {
    await hooks.tenants.upsert(tenant);
    const input = { url: receiver.url + path, events: ["*"] };
    return (await hooks.endpoints.create(tenant, input)).endpoint.id;
  };
  const publish = async (tenant: string, count = 1) => {
    for (let n = 0; n < count; n += 1) await hooks.publish({ tenant, type: "order.paid", data: n });
  };
  return { ...instance, receiver, endpointFor, publish };
}

const exactly = (count: number) => ({ count, isExact: true });

test("waiting, dead and ended deliveries are counted for all, a tenant and an endpoint", async () => {
  const { hooks, receiver, settle, advance, endpointFor, publish } = await makeWorld();
  const good = await endpointFor("acme", "/good");
  const failing = await endpointFor("acme", "/failing");
  const dying = await endpointFor("rivals", "/dying");
  const resting = await endpointFor("rivals", "/resting");
  receiver.answer("/failing", 500);
  receiver.answer("/dying", 400);
  await hooks.endpoints.disable("rivals", resting);
  await publish("acme", 3);
  await publish("rivals", 2);
  await settle();
  const all = await hooks.stats.get();
  expect(all.now).toEqual({
    pending: exactly(2),
    inFlight: exactly(0),
    failed: exactly(3),
    dead: exactly(2),
  });
  expect(all.attempts).toMatchObject({ success: 3, failed: 3, dead: 2, successRate: 3 / 8 });
  expect(all.latencyMs?.p99).toBeLessThan(60_000);
  const ofRivals = await hooks.stats.get({ tenant: "rivals" });
  expect(ofRivals.now).toEqual({
    pending: exactly(2),
    inFlight: exactly(0),
    failed: exactly(0),
    dead: exactly(2),
  });
  expect(ofRivals).toMatchObject({ attempts: { success: 0, successRate: 0 }, latencyMs: null });
  expect((await hooks.stats.get({ endpoint: good })).attempts.success).toBe(3);
  expect((await hooks.stats.get({ endpoint: failing })).now.failed).toEqual(exactly(3));
  expect((await hooks.stats.get({ tenant: "acme", endpoint: dying })).now.dead).toEqual(exactly(0));
  expect((await hooks.stats.get({ tenant: "nobody" })).attempts.successRate).toBeNull();

  await advance(7_200_000);
  const later = await hooks.stats.get();
  expect(later.attempts.success).toBe(0);
  expect(later.latencyMs).toBeNull();
  expect(later.now.dead).toEqual(exactly(2));
  expect((await hooks.stats.get({ period: "day" })).attempts.success).toBe(3);
});

test("stats, charts and endpoints have the same success rate for the same period, at any time of the hour", async () => {
  const { hooks, receiver, settle, advance, endpointFor, publish } = await makeWorld();
  const endpoint = await endpointFor("acme", "/mixed");
  receiver.answer("/mixed", [200, 500, 400, 200, 200]);
  await publish("acme", 5);
  await settle();
  // part of the day's first hour is more than a day ago
  const minute = 60_000;
  await advance(23 * 60 * minute + 61 * minute - (hooks.clock.nowMs() % (60 * minute)));
  receiver.answer("/mixed", 200);
  await publish("acme", 2);
  await settle();
  for (const later of [0, 10, 25, 40, 59]) {
    await advance(later * minute);
    await hooks.engine?.maintenance.runNow();
    for (const period of ["hour", "day"] as const) {
      for (const of of [{}, { tenant: "acme" }, { tenant: "acme", endpoint }]) {
        const { points, total } = await hooks.activity.get({ ...of, period });
        const { attempts } = await hooks.stats.get({ ...of, period });
        const { success, failed, dead, successRate } = total;
        expect(attempts).toEqual({ since: points[0]?.at, success, failed, dead, successRate });
      }
    }
    const { total } = await hooks.activity.get({ endpoint, period: "day" });
    const { health } = await hooks.endpoints.get("acme", endpoint);
    const [listed] = (await hooks.endpoints.list("acme")).data;
    expect(health.lastDay).toMatchObject({
      success: total.success,
      failed: total.failed + total.dead,
      successRate: total.successRate,
    });
    expect(listed?.health.lastDay).toEqual(health.lastDay);
  }
});

test("deliveries being sent are counted as in flight for their tenant only", async () => {
  const { hooks, receiver, endpointFor, publish } = await makeWorld();
  await endpointFor("acme", "/slow");
  await endpointFor("rivals", "/quick");
  receiver.answer("/slow", "hang");
  await publish("acme");
  await receiver.received(1);
  expect((await hooks.stats.get({ tenant: "acme" })).now.inFlight).toEqual(exactly(1));
  expect((await hooks.stats.get({ tenant: "rivals" })).now.inFlight).toEqual(exactly(0));
  expect((await hooks.stats.get()).now.inFlight).toEqual(exactly(1));
});

test("latency is measured from the event to the end, including retries", async () => {
  const { hooks, receiver, settle, advance, endpointFor, publish } = await makeWorld();
  await endpointFor("acme", "/late");
  receiver.answer("/late", [500, 200]);
  await publish("acme");
  await settle();
  await advance(90_000);
  await settle();
  const { latencyMs } = await hooks.stats.get();
  expect(latencyMs?.p50).toBeGreaterThanOrEqual(90_000);
  expect(latencyMs?.p50).toBeLessThan(150_000);
});

test("a count is exact up to its limit, and a lower bound above", async () => {
  const { hooks, receiver, settle, endpointFor, publish } = await makeWorld();
  const endpoint = await endpointFor("acme", "/good");
  receiver.answer("/good", [200, 200, 200, 200, 400, 400, 400, 400, 500, 500, 500, 500]);
  await publish("acme", 12);
  await settle();
  const at = (countedAtMost: number) =>
    deliveryStats(hooks.db, {
      endpointIds: null,
      periodSeconds: 3_600,
      scannedAtMost: countedAtMost,
      countedAtMost,
    });
  expect(await at(8)).toMatchObject({ failed: 4, isWaitingExact: true });
  expect(await at(7)).toMatchObject({ dead: 4, isDeadExact: true });
  expect(await at(4)).toMatchObject({ failed: 4, isWaitingExact: true, dead: 4, isDeadExact: true });
  expect(await at(3)).toMatchObject({ isWaitingExact: false, isInFlightExact: true, isDeadExact: false });
  // for an endpoint, counting stops at two thousand
  expect((await hooks.stats.get({ endpoint })).now.failed).toEqual(exactly(4));
});
