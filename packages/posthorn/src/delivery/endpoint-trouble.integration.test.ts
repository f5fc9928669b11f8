// An endpoint that is throttled, has an open circuit, is disabled or limited in rate. Its limits hold across
// deliveries, processes and changes of owner, and other endpoints are not affected.
import { performance } from "node:perf_hooks";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishTimes,
  receiverPerFile,
  settleAfter,
} from "../../../../tests/support/database/database-per-test.ts";
import { eventuallyPasses } from "../../../../tests/support/eventually.ts";
import { gate } from "../../../../tests/support/gate.ts";
import type { EndpointInput } from "../resources/endpoints/settings.ts";
import type { TestInstance } from "../testing/index.ts";

const second = 1_000;

const receiver = await receiverPerFile();
const world = databasePerTest({
  retryPolicy: "1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s",
});
const { open, countStates } = world;

async function endpointOn(instance: TestInstance, options: Partial<EndpointInput> = {}, tenant = "acme") {
  const { hooks } = instance;
  await hooks.tenants.upsert(tenant, {});
  const created = await newEndpoint(instance, receiver, options, tenant);
  return {
    ...created,
    count: () => receiver.requestsTo(created.path).length,
    show: () => hooks.endpoints.get(tenant, created.id),
  };
}

function publish(instance: TestInstance, count: number, tenant = "acme"): Promise<string[]> {
  return publishTimes(instance, count, { tenant, type: "order.paid", data: {} });
}

/** Publishes, and waits until nothing can be sent for now. */
async function deliver(instance: TestInstance, count: number): Promise<string[]> {
  const ids = await publish(instance, count);
  await instance.settle();
  return ids;
}

test.each([429, 503])("%i with Retry-After stops the whole endpoint until then", async (status) => {
  const a = await open();
  const { path, count, show } = await endpointOn(a, { maxInFlight: 1 });
  const other = await endpointOn(a);
  receiver.answer(path, [{ status, headers: { "retry-after": "600" } }, {}]);
  await deliver(a, 5);
  expect(count()).toBe(1);
  expect(other.count()).toBe(5);
  expect((await show()).health.throttledUntil?.getTime()).toBeGreaterThan(Date.now() + 540 * second);
  // nothing waits in memory during the pause
  expect(await countStates()).toEqual({ failed: 1, pending: 4, success: 5 });
  await deliver(a, 5);
  expect(await countStates()).toEqual({ failed: 1, pending: 9, success: 10 });

  // a minute before it ends: the clock also runs by itself
  await settleAfter(a, 540 * second);
  expect(count()).toBe(1);
  await settleAfter(a, 60 * second);
  expect(count()).toBe(11);
  expect((await show()).health).toMatchObject({ throttledUntil: null, failingSince: null });
  expect(await countStates()).toEqual({ success: 20 });
});

test("409 with Retry-After is retried when requested, any number of times, without counting as a failure", async () => {
  const a = await open({ retryPolicy: "1s" });
  const { path, count, show } = await endpointOn(a);
  receiver.answer(path, [...Array(5).fill({ status: 409, headers: { "retry-after": "600" } }), {}]);
  const [id] = await deliver(a, 1);
  for (let tries = 1; tries <= 5; tries += 1) {
    expect(count()).toBe(tries);
    expect((await show()).health.consecutiveFailures).toBe(0);
    // a minute before it is due: the clock also runs by itself
    await settleAfter(a, 540 * second);
    expect(count()).toBe(tries);
    await settleAfter(a, 60 * second);
  }
  const { deliveries } = await a.hooks.events.get(id as string);
  expect(deliveries[0]).toMatchObject({ state: "success", attemptCount: 6 });
});

describe("circuit", () => {
  test("opens after failures within an hour, which another process continues to count", async () => {
    const options = { circuitFailuresPerHour: 4, circuitFailurePercent: 0, retryPolicy: "30d" };
    const a = await open(options);
    const own = { maxInFlight: 1, events: ["order.*"] };
    const { path, count, show } = await endpointOn(a, own);
    const never = await endpointOn(a, { ...own, circuitBreaker: { failuresPerHour: 0 } });
    const mixed = [{ status: 500 }, {}, { status: 500 }, {}, { status: 500 }, {}, { status: 500 }, {}];
    for (const endpoint of [path, never.path]) receiver.answer(endpoint, mixed);
    await deliver(a, 5);
    expect(await show()).toMatchObject({ circuit: "closed", health: { consecutiveFailures: 1 } });
    await a.hooks.stop();
    const b = await open(options);
    await deliver(b, 5);
    expect(await b.hooks.endpoints.get("acme", never.id)).toMatchObject({ circuit: "closed" });
    expect([count(), never.count()]).toEqual([7, 10]);
  });

  test("opens and disables as each endpoint's own settings say", async () => {
    const a = await open({ circuitFailures: 3, disableAfterFailures: 4, retryPolicy: "1h" });
    // the report about the disabled endpoint is not for them
    const own = { maxInFlight: 1, events: ["order.*"] };
    const usual = await endpointOn(a, own);
    const early = await endpointOn(a, { ...own, circuitBreaker: { failures: 2, pauseMs: 60_000 } });
    const never = await endpointOn(a, { ...own, circuitBreaker: { failures: 0 } });
    const kept = await endpointOn(a, {
      ...own,
      circuitBreaker: { failures: 0 },
      disableAfter: { failures: 0 },
    });
    for (const { path } of [usual, early, never, kept])
      receiver.answer(path, Array(10).fill({ status: 500 }));
    await deliver(a, 6);
    expect([usual.count(), early.count(), never.count(), kept.count()]).toEqual([3, 2, 4, 6]);
    expect(await early.show()).toMatchObject({
      circuit: "open",
      circuitBreaker: { failures: 2, failurePercent: 50, failuresPerHour: 0, pauseMs: 60_000 },
    });
    expect(await never.show()).toMatchObject({ circuit: "closed", disabledReason: "failures" });
    expect(await kept.show()).toMatchObject({ circuit: "closed", isActive: true });
  });

  test("opens after failures in a row; nothing is sent and nothing lost; a probe and a ramp close it", async () => {
    const a = await open({ circuitFailures: 3 });
    const { path, count, show } = await endpointOn(a, { maxInFlight: 1 });
    const other = await endpointOn(a);
    receiver.answer(path, [...Array(4).fill({ status: 500 }), {}]);
    await deliver(a, 20);
    expect(count()).toBe(3);
    expect(other.count()).toBe(20);
    expect(await show()).toMatchObject({
      circuit: "open",
      health: { consecutiveFailures: 3, lastError: "HTTP 500" },
    });
    // events published while it is open wait like the others
    await publish(a, 5);
    // half a minute before the probe: the clock also runs by itself
    await settleAfter(a, second);
    expect(count()).toBe(3);

    await settleAfter(a, 40 * second);
    expect(count()).toBe(4);
    expect((await show()).circuit).toBe("open");

    await settleAfter(a, 70 * second);
    expect(await show()).toMatchObject({ circuit: "closed", health: { consecutiveFailures: 0 } });
    expect(await countStates()).toEqual({ success: 50 });
  });

  test("half open, one attempt is in flight, and two after it succeeded", async () => {
    const a = await open({ circuitFailures: 2 });
    const { path, count, show } = await endpointOn(a, { maxInFlight: 4 });
    const [first, others] = [gate(), gate()];
    receiver.answer(path, [
      { status: 500 },
      { status: 500 },
      { until: first.opened },
      { until: others.opened },
    ]);
    await deliver(a, 1);
    await settleAfter(a, 2 * second);
    expect((await show()).circuit).toBe("open");
    await publish(a, 20);
    await a.advance(40 * second);
    const settled = a.settle();
    await receiver.received(3, { path });
    await a.hooks.engine?.worker.renew();
    expect((await show()).circuit).toBe("half_open");
    expect(receiver.concurrency(path)).toMatchObject({ now: 1 });
    first.open();
    await receiver.received(5, { path });
    expect(receiver.concurrency(path).now).toBe(2);
    others.open();
    await settled;
    expect(count()).toBe(23);
    expect(receiver.concurrency(path).max).toBeLessThanOrEqual(4);
  });

  test.each(["the process that is asked", "another process", "nobody"])(
    "a manual retry is sent at once as the probe, ahead of the queue, if %s owns the lane",
    async (owner) => {
      const options = { circuitFailures: 2 };
      const a = await open(options);
      const { path, count, id } = await endpointOn(a, { maxInFlight: 1 });
      receiver.answer(path, [{ status: 500 }, { status: 500 }, { status: 500 }, {}]);
      await deliver(a, 5);
      expect(count()).toBe(2);
      const [last] = (await a.hooks.deliveries.list({ tenant: "acme" })).data;
      if (owner === "nobody") await a.hooks.stop({ graceMs: 0 });
      const asked = owner.startsWith("the") ? a : await open({ ...options, started: false });
      await asked.hooks.deliveries.retry(last?.id as string);
      const worker = owner === "nobody" ? await open(options) : a;
      await worker.settle();
      expect(count()).toBe(3);
      expect(receiver.requestsTo(path).at(-1)?.headers["x-webhook-id"]).toBe(last?.eventId);
      const circuit = async () => (await asked.hooks.endpoints.get("acme", id)).circuit;
      expect(await circuit()).toBe("open");
      await asked.hooks.deliveries.retry(last?.id as string);
      await worker.settle();
      expect(await circuit()).toBe("closed");
    },
  );

  test("a manual retry does not end a pause that the receiver asked for", async () => {
    const a = await open({ circuitFailures: 1 });
    const { path, count } = await endpointOn(a, { maxInFlight: 1 });
    receiver.answer(path, [{ status: 503, headers: { "retry-after": "600" } }, {}]);
    await deliver(a, 2);
    const [last] = (await a.hooks.deliveries.list({ tenant: "acme" })).data;
    await a.hooks.deliveries.retry(last?.id as string);
    await a.settle();
    expect(count()).toBe(1);
    await settleAfter(a, 700 * second);
    expect(await countStates()).toEqual({ success: 2 });
  });

  test("an open circuit causes no additional queries", async () => {
    const a = await open({ circuitFailures: 1 });
    const { path } = await endpointOn(a);
    receiver.answer(path, { status: 500 });
    await deliver(a, 10);
    const query = vi.spyOn(a.hooks.db, "query");
    const fetches = () => query.mock.calls.filter(([{ name }]) => name === "fetch").length;
    for (let turn = 0; turn < 5; turn += 1) await a.hooks.engine?.runAllDue();
    expect(fetches()).toBe(0);
  });

  test("a new URL resets the state", async () => {
    const a = await open({ circuitFailures: 2 });
    const { path, id, show, count } = await endpointOn(a, { maxInFlight: 1 });
    receiver.answer(path, { status: 500 });
    await deliver(a, 5);
    expect((await show()).circuit).toBe("open");
    const moved = await a.hooks.endpoints.update("acme", id, { url: `${receiver.url}/mended` });
    expect(moved.circuit).toBe("closed");
    await settleAfter(a, 2 * second);
    expect(count()).toBe(2);
    expect(receiver.requestsTo("/mended")).toHaveLength(5);
  });
});

test("consecutive failures disable the endpoint: nothing is sent meanwhile, and its deliveries wait", async () => {
  const a = await open({ disableAfterFailures: 4, circuitFailures: 0 });
  const { path, id, count, show } = await endpointOn(a, { maxInFlight: 1 });
  receiver.answer(path, [...Array(4).fill({ status: 500 }), {}]);
  const holder = await world.pool.connect();
  await holder.query("begin");
  await holder.query("select from posthorn.tenants for update");
  await publish(a, 10);
  await eventuallyPasses(() => expect(count()).toBe(4));
  const query = vi.spyOn(a.hooks.db, "query");
  const asked = (wanted: string) => query.mock.calls.filter(([{ name }]) => name === wanted).length;
  await eventuallyPasses(() => {
    expect(asked("survey lanes")).toBeGreaterThan(2);
    expect(asked("find work")).toBeGreaterThan(2);
  });
  expect(count()).toBe(4);
  await holder.query("rollback");
  holder.release();
  await a.settle();
  expect(await show()).toMatchObject({ isActive: false, disabledReason: "failures" });
  await deliver(a, 5);
  expect(count()).toBe(4);

  await a.hooks.endpoints.update("acme", id, { isActive: true });
  await settleAfter(a, 2 * second);
  expect(await countStates()).toEqual({ success: 15 });
  expect(await show()).toMatchObject({ isActive: true, disabledReason: null });
});

test("an endpoint with a rate limit does not slow another one down, and holds few rows in memory", async () => {
  const a = await open();
  const slow = await endpointOn(a, { rateLimit: 1 });
  const other = await endpointOn(a);
  const began = performance.now();
  await publish(a, 100);
  await receiver.received(100, { path: other.path });
  expect(slow.count()).toBeLessThanOrEqual(2 + (performance.now() - began) / 1_000);
  // the other one's outcome may not be recorded yet
  await eventuallyPasses(async () => expect((await countStates()).in_flight ?? 0).toBeLessThanOrEqual(10));
});

test.each([
  ["cap", { maxInFlight: 1, maxInFlightBurst: 1 }],
  ["rate_limit", { maxInFlight: 1, rateLimit: 1 }],
] as const)(
  "deliveries that the endpoint's own limit holds wait for %s until it no longer does",
  async (reason, limits) => {
    const a = await open();
    const { path, id } = await endpointOn(a, limits);
    const { opened, open: release } = gate();
    if (reason === "cap") receiver.answer(path, [{ until: opened }, {}]);
    await publish(a, 150);
    const waiting = async () =>
      (await a.hooks.deliveries.list({ endpoint: id, state: "pending", limit: 1 })).data[0]?.waitsFor;
    // the database's clock says that they have been due for a while
    await a.advance(2 * second);
    await eventuallyPasses(async () => {
      expect(await waiting()).toMatchObject({ reason, until: null, blockedBy: null });
    });
    release();
    await a.hooks.endpoints.update("acme", id, { maxInFlight: 50, maxInFlightBurst: 50, rateLimit: null });
    await receiver.received(150, { path });
    await eventuallyPasses(async () => expect(await waiting()).toBeUndefined());
  },
);

test.each([
  ["cap", { maxInFlight: 1, maxInFlightBurst: 1 }],
  ["rate_limit", { rateLimit: 1 }],
] as const)(
  "deliveries that a worker holds in memory wait for %s too, as every process reports",
  async (reason, limits) => {
    const owner = await open();
    const { path, id } = await endpointOn(owner, limits);
    const reader = await open({ started: false });
    await reader.hooks.start({ role: "api" });
    const { opened, open: release } = gate();
    receiver.answer(path, [{ until: opened }, {}]);
    // at the rate limit this takes longer than what follows
    await publish(owner, 40);
    for (const { hooks } of [owner, reader]) {
      await eventuallyPasses(async () => {
        const { data } = await hooks.deliveries.list({ endpoint: id, state: "in_flight" });
        const held = data.filter(({ waitsFor }) => waitsFor !== null);
        // the one that is being sent waits for nothing
        expect(data.length - held.length).toBeGreaterThanOrEqual(1);
        expect(held.length).toBeGreaterThanOrEqual(3);
        for (const { waitsFor, nextRetryAt } of held) {
          expect(waitsFor).toMatchObject({ reason, until: null, blockedBy: null });
          expect(nextRetryAt).toBeNull();
        }
        const detail = await hooks.deliveries.get(held.at(-1)?.id ?? "");
        expect(detail).toMatchObject({ state: "in_flight", waitsFor: { reason } });
      });
    }
    release();
    await owner.hooks.endpoints.update("acme", id, {
      maxInFlight: 50,
      maxInFlightBurst: 50,
      rateLimit: null,
    });
    await receiver.received(40, { path });
    await eventuallyPasses(async () => expect(await countStates()).toEqual({ success: 40 }));
  },
);

test("a worker whose event loop is busy leaves a lane with work to one that is idle", async () => {
  vi.spyOn(performance, "eventLoopUtilization").mockReturnValue({ idle: 0, active: 1, utilization: 1 });
  onTestFinished(() => void vi.restoreAllMocks());
  const a = await open();
  const { path, count, lane } = await endpointOn(a, { rateLimit: 5 });
  await world.pool.query(`
    insert into posthorn.workers (name, lease_expires_at, holds_liveness_lock, delivers, utilisation)
    values ('idle', now() + interval '1 hour', false, true, 0)`);
  await publish(a, 500);
  // it owned the lane; between two reads of the owner it could claim and leave it
  await receiver.received(1, { path });
  const owned = "select owner from posthorn.lanes where endpoint_id = $1";
  const owner = async () => (await world.pool.query(owned, [lane])).rows[0].owner;
  await eventuallyPasses(async () => expect(await owner()).toBeNull());
  expect(count()).toBeLessThan(500);
});
