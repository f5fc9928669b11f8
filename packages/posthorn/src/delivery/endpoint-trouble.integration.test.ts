// An endpoint in trouble: throttled, its circuit open, disabled, limited in rate. What it asks for is kept across
// deliveries, processes and takeovers, and nobody else notices.
import { performance } from "node:perf_hooks";
import { parseId } from "@posthorn/wire";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { databasePerTest, gate, publishTimes } from "../../../../tests/support/database-per-test.ts";
import { eventuallyPasses } from "../../../../tests/support/eventually.ts";
import { isQuick } from "../../../../tests/support/matrix.ts";
import { startWorker } from "../../../../tests/support/worker-process.ts";
import { type ScriptedReceiver, startScriptedReceiver, type TestInstance } from "../testing/index.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

let receiver: ScriptedReceiver;

beforeAll(async () => {
  receiver = await startScriptedReceiver();
});
afterAll(() => receiver.close());
const world = databasePerTest({
  retryPolicy: "1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s",
});
const { open, countStates } = world;

let paths = 0;
async function endpointOn(instance: TestInstance, options: Record<string, unknown> = {}, tenant = "acme") {
  paths += 1;
  const path = `/trouble-${paths}`;
  await instance.hooks.tenants.upsert(tenant, {});
  const { endpoint } = await instance.hooks.endpoints.create(tenant, {
    url: receiver.url + path,
    events: ["*"],
    ...options,
  });
  return {
    path,
    id: endpoint.id,
    lane: parseId("ep", endpoint.id) as string,
    count: () => receiver.requestsTo(path).length,
    show: () => instance.hooks.endpoints.get(tenant, endpoint.id),
  };
}

function publish(instance: TestInstance, count: number, tenant = "acme"): Promise<string[]> {
  return publishTimes(instance, count, { tenant, type: "order.paid", data: {} });
}

describe("throttle", () => {
  test.each([429, 503])("%i with Retry-After stops the whole endpoint until then", async (status) => {
    const a = await open();
    const { path, count, show } = await endpointOn(a, { maxInFlight: 1 });
    const other = await endpointOn(a);
    receiver.answer(path, [{ status, headers: { "retry-after": "600" } }, {}]);
    await publish(a, 5);
    await a.settle();
    expect(count()).toBe(1);
    expect(other.count()).toBe(5);
    expect((await show()).health.throttledUntil?.getTime()).toBeGreaterThan(Date.now() + 590 * second);

    await a.advance(590 * second);
    await a.settle();
    expect(count()).toBe(1);
    await a.advance(10 * second);
    await a.settle();
    expect(count()).toBe(6);
    expect((await show()).health).toMatchObject({ throttledUntil: null, failingSince: null });
    expect(await countStates()).toEqual({ success: 10 });
  });

  test("the next owner of the lane keeps the requested pause", async () => {
    const [a, b] = [await open(), await open()];
    const { path, count } = await endpointOn(a, { maxInFlight: 1 });
    receiver.answer(path, [{ status: 429, headers: { "retry-after": "600" } }, {}]);
    await publish(a, 3);
    await a.settle();
    await a.hooks.stop({ graceMs: 0 });
    await b.settle();
    expect(count()).toBe(1);
    await b.advance(601 * second);
    await b.settle();
    expect(count()).toBe(4);
  });

  test("nothing waits in memory during a pause", async () => {
    const a = await open();
    const { path } = await endpointOn(a, { maxInFlight: 1 });
    receiver.answer(path, { status: 429, headers: { "retry-after": "600" } });
    await publish(a, 40);
    await a.settle();
    expect(await countStates()).toEqual({ failed: 1, pending: 39 });
    await publish(a, 10);
    await a.settle();
    expect(await countStates()).toEqual({ failed: 1, pending: 49 });
  });
});

describe("409 with Retry-After", () => {
  test("is retried when requested, any number of times, without counting as a failure", async () => {
    const a = await open({ retryPolicy: "1s" });
    const { path, count, show } = await endpointOn(a);
    receiver.answer(path, [...Array(5).fill({ status: 409, headers: { "retry-after": "600" } }), {}]);
    const [id] = await publish(a, 1);
    await a.settle();
    for (let tries = 1; tries <= 5; tries += 1) {
      expect(count()).toBe(tries);
      expect((await show()).health.consecutiveFailures).toBe(0);
      // a minute before it is due: the clock also runs by itself
      await a.advance(540 * second);
      await a.settle();
      expect(count()).toBe(tries);
      await a.advance(60 * second);
      await a.settle();
    }
    const { deliveries } = await a.hooks.events.get(id as string);
    expect(deliveries[0]).toMatchObject({ state: "success", attemptCount: 6 });
  });

  test("is honoured for a day and counts as a failure afterwards", async () => {
    const a = await open({ retryPolicy: "1s" });
    const { path } = await endpointOn(a);
    receiver.answer(path, { status: 409, headers: { "retry-after": "3600" } });
    await publish(a, 1);
    await a.settle();
    for (let hours = 1; hours < 23; hours += 1) {
      await a.advance(hour);
      await a.settle();
    }
    const failures = async () => (await world.pool.query("select failures from posthorn.queue")).rows;
    expect(await countStates()).toEqual({ failed: 1 });
    expect(await failures()).toEqual([{ failures: 0 }]);
    await a.advance(hour);
    await a.settle();
    expect(await failures()).toEqual([{ failures: 1 }]);
    await a.advance(hour);
    await a.settle();
    expect(await countStates()).toEqual({ dead: 1 });
  });
});

describe("circuit", () => {
  test("opens after failures in a row; nothing is sent and nothing lost; a probe and a ramp close it", async () => {
    const a = await open({ circuitFailures: 3 });
    const { path, count, show } = await endpointOn(a, { maxInFlight: 1 });
    const other = await endpointOn(a);
    receiver.answer(path, [...Array(4).fill({ status: 500 }), {}]);
    await publish(a, 20);
    await a.settle();
    expect(count()).toBe(3);
    expect(other.count()).toBe(20);
    expect(await show()).toMatchObject({
      circuit: "open",
      health: { consecutiveFailures: 3, lastError: "HTTP 500" },
    });
    // events that come while it is open wait like the others
    await publish(a, 5);
    await a.advance(20 * second);
    await a.settle();
    expect(count()).toBe(3);

    await a.advance(20 * second);
    await a.settle();
    expect(count()).toBe(4);
    expect((await show()).circuit).toBe("open");

    await a.advance(70 * second);
    await a.settle();
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
    await publish(a, 1);
    await a.settle();
    await a.advance(2 * second);
    await a.settle();
    expect((await show()).circuit).toBe("open");
    await publish(a, 20);
    await a.advance(40 * second);
    void a.settle();
    await receiver.received(3, { path });
    await a.hooks.engine?.followClock();
    expect((await show()).circuit).toBe("half_open");
    expect(receiver.concurrency(path)).toMatchObject({ now: 1 });
    first.open();
    await receiver.received(5, { path });
    expect(receiver.concurrency(path).now).toBe(2);
    others.open();
    await eventuallyPasses(() => expect(count()).toBe(23));
    expect(receiver.concurrency(path).max).toBeLessThanOrEqual(4);
  });

  test.each(["the process that is asked", "another process", "nobody"])(
    "a retry by hand is the probe, sent now and before all that waits, where %s owns the lane",
    async (owner) => {
      const options = { circuitFailures: 2 };
      const a = await open(options);
      const { path, count, id } = await endpointOn(a, { maxInFlight: 1 });
      receiver.answer(path, [{ status: 500 }, { status: 500 }, { status: 500 }, {}]);
      await publish(a, 5);
      await a.settle();
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
    await publish(a, 2);
    await a.settle();
    const [last] = (await a.hooks.deliveries.list({ tenant: "acme" })).data;
    await a.hooks.deliveries.retry(last?.id as string);
    await a.settle();
    expect(count()).toBe(1);
    await a.advance(700 * second);
    await a.settle();
    expect(await countStates()).toEqual({ success: 2 });
  });

  test("stays open for the next owner of the lane", async () => {
    const [a, b] = [await open({ circuitFailures: 2 }), await open({ circuitFailures: 2 })];
    const { path, count } = await endpointOn(a, { maxInFlight: 1 });
    receiver.answer(path, [{ status: 500 }, { status: 500 }, {}]);
    await publish(a, 5);
    await a.settle();
    await a.hooks.stop({ graceMs: 0 });
    await publish(b, 5);
    await b.settle();
    expect(count()).toBe(2);
    await b.advance(40 * second);
    await b.settle();
    expect(count()).toBe(12);
  });

  test("an open circuit causes no additional queries", async () => {
    const a = await open({ circuitFailures: 1 });
    const { path } = await endpointOn(a);
    receiver.answer(path, { status: 500 });
    await publish(a, 10);
    await a.settle();
    const query = vi.spyOn(a.hooks.db, "query");
    const fetches = () => query.mock.calls.filter(([{ name }]) => name === "fetch").length;
    for (let turn = 0; turn < 5; turn += 1) await a.hooks.engine?.runAllDue();
    expect(fetches()).toBe(0);
  });

  test("a new URL starts afresh", async () => {
    const a = await open({ circuitFailures: 2 });
    const { path, id, show, count } = await endpointOn(a, { maxInFlight: 1 });
    receiver.answer(path, { status: 500 });
    await publish(a, 5);
    await a.settle();
    expect((await show()).circuit).toBe("open");
    const { endpoint } = {
      endpoint: await a.hooks.endpoints.update("acme", id, { url: `${receiver.url}/mended` }),
    };
    expect(endpoint.circuit).toBe("closed");
    await a.advance(2 * second);
    await a.settle();
    expect(count()).toBe(2);
    expect(receiver.requestsTo("/mended")).toHaveLength(5);
  });
});

describe("disabling", () => {
  test("consecutive failures disable the endpoint, and its deliveries wait", async () => {
    const a = await open({ disableAfterFailures: 4, circuitFailures: 0 });
    const { path, id, count, show } = await endpointOn(a, { maxInFlight: 1 });
    receiver.answer(path, [...Array(4).fill({ status: 500 }), {}]);
    await publish(a, 10);
    await a.settle();
    expect(count()).toBe(4);
    expect(await show()).toMatchObject({ isActive: false, disabledReason: "failures" });
    await publish(a, 5);
    await a.settle();
    expect(count()).toBe(4);

    await a.hooks.endpoints.update("acme", id, { isActive: true });
    await a.advance(2 * second);
    await a.settle();
    expect(await countStates()).toEqual({ success: 15 });
    expect(await show()).toMatchObject({ isActive: true, disabledReason: null });
  });

  test("nothing is sent while the endpoint is being disabled", async () => {
    const a = await open({ disableAfterFailures: 4, circuitFailures: 0 });
    const { path, count, show } = await endpointOn(a, { maxInFlight: 1 });
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
      expect(asked("acquire lanes")).toBeGreaterThan(2);
    });
    expect(count()).toBe(4);
    await holder.query("rollback");
    holder.release();
    await a.settle();
    expect(count()).toBe(4);
    expect(await show()).toMatchObject({ isActive: false, disabledReason: "failures" });
  });

  test("the next owner of the lane continues the count", async () => {
    const options = { disableAfterFailures: 4, circuitFailures: 0 };
    const [a, b] = [await open(options), await open(options)];
    const { path, count } = await endpointOn(a, { maxInFlight: 1 });
    receiver.answer(path, { status: 500 });
    await publish(a, 3);
    await a.settle();
    expect(count()).toBe(3);
    await a.hooks.stop({ graceMs: 0 });
    await b.advance(2 * second);
    await b.settle();
    expect(count()).toBe(4);
    expect((await b.hooks.endpoints.list("acme")).data[0]).toMatchObject({ disabledReason: "failures" });
  });

  test("an endpoint without success for days is disabled, however few attempts there were", async () => {
    const a = await open({ retryPolicy: Array(20).fill("12h").join(","), circuitFailures: 0 });
    const { path, show } = await endpointOn(a);
    receiver.answer(path, { status: 500 });
    await publish(a, 1);
    await a.settle();
    for (let elapsed = 0; elapsed < 4.5 * day; elapsed += 12 * hour) {
      expect((await show()).isActive).toBe(true);
      await a.advance(13.5 * hour);
      await a.settle();
    }
    expect(await show()).toMatchObject({ isActive: false, disabledReason: "no_success" });
  });
});

describe("rate limit", () => {
  test("attempts keep to the rate, through a change of owner", async () => {
    const [a, b] = [await open(), await open()];
    const { path, count } = await endpointOn(a, { rateLimit: 20, maxInFlight: 20 });
    receiver.answer(path, {});
    const began = performance.now();
    await publish(a, 30);
    await receiver.received(12, { path });
    await a.hooks.stop({ graceMs: 1_000 });
    await publish(b, 10);
    await receiver.received(40, { path });
    // 40 tokens at 20 a second; the bucket began empty twice
    expect(performance.now() - began).toBeGreaterThan(1_950);
    expect(count()).toBe(40);
  });

  test("a limited endpoint does not slow another one down, and holds few rows in memory", async () => {
    const a = await open();
    const slow = await endpointOn(a, { rateLimit: 1 });
    const other = await endpointOn(a);
    const began = performance.now();
    await publish(a, 100);
    await receiver.received(100, { path: other.path });
    expect(slow.count()).toBeLessThanOrEqual(2 + (performance.now() - began) / 1_000);
    // what the other one answered may not be written down yet
    await eventuallyPasses(async () => expect((await countStates()).in_flight ?? 0).toBeLessThanOrEqual(10));
  });
});

describe("tenants", () => {
  test("a tenant with many hanging endpoints leaves a slot for a tenant with a single endpoint", async () => {
    const a = await open({ concurrency: 10, maxEndpointsPerTenant: 100 });
    const never = gate().opened;
    for (let i = 0; i < 30; i += 1) {
      const { path } = await endpointOn(a, {}, "crowd");
      receiver.answer(path, { until: never });
    }
    const single = await endpointOn(a, {}, "single");
    await publish(a, 20, "crowd");
    await eventuallyPasses(async () => expect((await countStates()).in_flight).toBeGreaterThanOrEqual(8));
    await publish(a, 3, "single");
    await receiver.received(3, { path: single.path });
  });
});

describe("pressure", () => {
  // beside other tests the idle worker is not idle
  test.skipIf(isQuick)(
    "a worker whose event loop is busy leaves lanes with work to one that is idle",
    async () => {
      const a = await open({ endpointConcurrency: 1 });
      const lanes = await Promise.all(
        Array.from({ length: 10 }, (_, n) => endpointOn(a, { events: [`lane.n${n}`] })),
      );
      const held = gate();
      for (const { path } of lanes) receiver.answer(path, [{ until: held.opened }, {}]);
      const inputs = lanes.flatMap((_, n) =>
        Array(20).fill({ tenant: "acme", type: `lane.n${n}`, data: {} }),
      );
      await a.hooks.publishMany(inputs);
      await Promise.all(lanes.map(({ path }) => receiver.received(1, { path })));
      const idle = startWorker({
        database: world.connectionString,
        encryptionKeys: world.encryptionKeys,
        allowHttp: true,
        allowCidrs: ["127.0.0.0/8"],
        userAgent: "idle",
      });
      onTestFinished(() => idle.kill());
      await idle.started;
      // this process, in which the other worker lives, is busy nine tenths of the time
      const spin = setInterval(() => {
        const until = performance.now() + 45;
        while (performance.now() < until);
      }, 50);
      onTestFinished(() => clearInterval(spin));
      const senders = () =>
        lanes.flatMap(({ path }) => receiver.requestsTo(path)).map((r) => r.headers["user-agent"]);
      held.open();
      await publishUntil(a, lanes.length, () => senders().includes("idle"));
      clearInterval(spin);
      for (const { path } of lanes) expect(receiver.concurrency(path).max).toBe(1);
    },
  );

  async function publishUntil(instance: TestInstance, lanes: number, isDone: () => boolean): Promise<void> {
    const giveUpAt = performance.now() + 30_000;
    for (let turn = 0; !isDone(); turn += 1) {
      if (performance.now() > giveUpAt) throw new Error("no lane was ever left to the idle worker");
      await instance.hooks.publish({ tenant: "acme", type: `lane.n${turn % lanes}`, data: {} });
    }
  }
});
