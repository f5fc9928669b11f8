// Lanes of several instances on one database: which one sends, how many at once, and which one takes over.
import { performance } from "node:perf_hooks";
import { verify } from "@posthorn/wire";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishTimes,
  receiverPerFile,
  settleAfter,
} from "../../../../tests/support/database/database-per-test.ts";
import { lockWaits } from "../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { gate } from "../../../../tests/support/gate.ts";
import { keepLanes } from "../../../../tests/support/keep-lanes.ts";
import type { EndpointInput } from "../resources/endpoints/settings.ts";
import { fetch } from "../storage/queries/queue/fetch.ts";
import { reap } from "../storage/queries/workers/reap.ts";
import type { ReceivedRequest, TestInstance } from "../testing/index.ts";

const minute = 60_000;

let lanesKept: ReturnType<typeof keepLanes>;
beforeEach(() => {
  lanesKept = keepLanes();
});
afterEach(() => {
  vi.restoreAllMocks();
});
const receiver = await receiverPerFile();
const world = databasePerTest();
const { open, countStates } = world;

const endpointOn = (instance: TestInstance, options: Partial<EndpointInput> = {}) =>
  newEndpoint(instance, receiver, options);

/** Publishes `count` events of a type and returns their ids. */
function publish(instance: TestInstance, count: number, type = "order.paid"): Promise<string[]> {
  return publishTimes(instance, count, { tenant: "acme", type, data: { text: "hello" } });
}

async function laneOwner(lane: string): Promise<number | null> {
  const { rows } = await world.pool.query("select owner from posthorn.lanes where endpoint_id = $1", [lane]);
  return rows[0]?.owner ?? null;
}

/** In the order in which they were started. */
async function workerIds(): Promise<number[]> {
  const { rows } = await world.pool.query("select id from posthorn.workers order by id");
  return rows.map((row) => row.id);
}

/** The first requests to the path stay open until the returned function is called. */
function hold(path: string, count = 1, step: { readonly status?: number } = {}): () => void {
  const { opened, open: release } = gate();
  receiver.answer(path, [...Array(count).fill({ ...step, until: opened }), {}]);
  return release;
}

/** Waits until the lane's owner has stopped it: it holds only the five in flight. */
async function untilOnlyFiveInFlight(): Promise<void> {
  await eventually("five deliveries are in flight", async () => (await countStates()).in_flight === 5);
}

function expectEachOnce(path: string, ids: readonly string[]): void {
  const sent: string[] = receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)).id);
  expect(sent.sort()).toEqual([...ids].sort());
}

/** Lets monotonic time pass for everything that measures by it, without waiting. */
function passMonotonicTime(ms: number): void {
  const real = performance.now.bind(performance);
  const spy = vi.spyOn(performance, "now").mockImplementation(() => real() + ms);
  onTestFinished(() => spy.mockRestore());
}

test.each([2, 3])(
  "an endpoint's limit on attempts in flight holds across %i flooded instances",
  async (count) => {
    const instances: TestInstance[] = [];
    for (let i = 0; i < count; i += 1) instances.push(await open());
    const [first] = instances as [TestInstance];
    const { path } = await endpointOn(first, { events: ["flood.*"], maxInFlightBurst: 5 });
    const other = await endpointOn(first, { events: ["ping"] });
    const release = hold(path, 5);
    const ids = await Promise.all(instances.map((instance) => publish(instance, 40, "flood.rose")));
    await receiver.received(5, { path });
    // one event through each of them: all had their turn while the endpoint's five slots are in use
    for (const [i, instance] of instances.entries()) {
      await publish(instance, 1, "ping");
      await receiver.received(i + 1, { path: other.path });
    }
    expect(receiver.concurrency(path)).toEqual({ now: 5, max: 5 });

    release();
    await Promise.all(instances.map((instance) => instance.settle()));
    expect(receiver.concurrency(path).max).toBe(5);
    expectEachOnce(path, ids.flat());
  },
);

/** The number of statements that fetched deliveries. */
async function fetches(instance: TestInstance): Promise<number> {
  const [, count] = /webhook_claim_seconds_count (\d+)/.exec(await instance.hooks.metrics()) ?? [];
  return Number(count);
}

test("a delivery in a lane of another process is claimed by the owner on insert, which does not fetch it", async () => {
  const [a, b] = [await open(), await open()];
  const ofA = await endpointOn(a, { events: ["of.a", "of.both"] });
  const ofB = await endpointOn(b, { events: ["of.b", "of.both"] });
  for (const { path } of [ofA, ofB]) receiver.answer(path, {});
  await publish(a, 1, "of.a");
  await publish(b, 1, "of.b");
  for (const { path } of [ofA, ofB]) await receiver.received(1, { path });
  // by the first one, b learns who owns the lane
  await publish(b, 1, "of.both");
  await receiver.received(2, { path: ofA.path });
  await a.settle();
  const [workerOfA] = await workerIds();
  let count = 2;
  await eventually("b passes deliveries to a", async () => {
    const before = await fetches(a);
    await publish(b, 1, "of.both");
    count += 1;
    await receiver.received(count, { path: ofA.path });
    return (await fetches(a)) === before;
  });
  expect(await laneOwner(ofA.lane)).toBe(workerOfA);
  const { rows } = await world.pool.query(
    "select distinct a.worker from posthorn.attempts a join posthorn.deliveries d on d.id = a.delivery_id where d.endpoint_id = $1",
    [ofA.lane],
  );
  expect(rows).toEqual([{ worker: workerOfA }]);
});

test("a new instance gets its share of the lanes within seconds", async () => {
  const a = await open();
  const endpoints = [];
  for (let i = 0; i < 10; i += 1)
    endpoints.push(await endpointOn(a, { events: [`lane.${i}`], rateLimit: 1 }));
  for (const [i, { path }] of endpoints.entries()) {
    receiver.answer(path, {});
    await publish(a, 100, `lane.${i}`);
  }
  const b = await open();
  const counts = async () => {
    const { rows } = await world.pool.query(
      "select owner, count(*)::integer from posthorn.lanes group by owner",
    );
    return new Map(rows.map((row) => [row.owner, row.count]));
  };
  const [, workerOfB] = await workerIds();
  await eventually("the new instance has a third of the lanes", async () => {
    return ((await counts()).get(workerOfB) ?? 0) >= 3;
  });
  await Promise.all([a, b].map((instance) => instance.hooks.stop({ graceMs: 0 })));
});

test("a delivery being released during reconciliation is not sent by the releasing worker", async () => {
  const a = await open();
  const { path } = await endpointOn(a, { maxInFlight: 1 });
  const release = hold(path);
  const ids = await publish(a, 4);
  await receiver.received(1, { path });

  const holder = await world.pool.connect();
  await holder.query("begin; select from posthorn.queue for update");
  const stopping = a.close();
  await lockWaits(world.pool);
  const { rows } = await holder.query("select clock_timestamp()::text as now");
  // its connections are lost, so that it looks for what it holds
  await holder.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'posthorn' and wait_event_type is distinct from 'Lock'`,
  );
  const stockTaken = `select from pg_stat_activity
    where datname = current_database() and query like '%l.owner = $1::integer%infinity%' and state = 'idle' and query_start > $1`;
  await eventually(
    "the worker has read its claims",
    async () => (await world.pool.query(stockTaken, [rows[0]?.now])).rowCount === 1,
  );
  await holder.query("rollback");
  holder.release();
  release();
  await stopping;
  const b = await open();
  await b.settle();
  expectEachOnce(path, ids);
});

test("a worker that was reaped while running continues under a new id, and its late outcome is ignored", async () => {
  const a = await open();
  const { path } = await endpointOn(a);
  const release = hold(path, 1, { status: 500 });
  const [first] = await publish(a, 1);
  await receiver.received(1, { path });
  const [oldId] = (await workerIds()) as [number];

  expect(await reap(a.hooks.db, { id: oldId, leaseExpiresMs: null })).toMatchObject({
    deliveries: 1,
    lanes: 1,
  });
  const [second] = await publish(a, 1);
  await receiver.received(3, { path });
  release();
  await receiver.idle();
  await a.settle();
  const [newId] = (await workerIds()) as [number];
  expect(newId).toBeGreaterThan(oldId);
  const ofFirst = (await a.hooks.events.get(first as string)).deliveries[0];
  expect(ofFirst).toMatchObject({ state: "success", attemptCount: 2 });
  const { attempts: list } = await a.hooks.deliveries.get(ofFirst?.id as string);
  expect(list).toMatchObject([
    { number: 1, error: "unknown", worker: oldId },
    { number: 2, statusCode: 200, worker: newId },
  ]);
  expect((await a.hooks.events.get(second as string)).deliveries).toMatchObject([{ state: "success" }]);
});

test("a worker is reaped even if one of its attempts is already recorded", async () => {
  const a = await open();
  const { path } = await endpointOn(a);
  const release = hold(path);
  const [first] = await publish(a, 1);
  await receiver.received(1, { path });
  const [oldId] = (await workerIds()) as [number];
  await world.pool.query(
    `insert into posthorn.attempt_log (delivery_id, number, trigger, worker)
     select id, attempts + 1, 'event', 0 from posthorn.queue`,
  );
  expect(await reap(a.hooks.db, { id: oldId, leaseExpiresMs: null })).toMatchObject({ deliveries: 1 });
  release();
  await a.settle();
  expect((await a.hooks.events.get(first as string)).deliveries).toMatchObject([{ state: "success" }]);
});

test.each([
  ["alone", 30_100],
  ["beside another worker", 1_600],
])(
  "%s, a worker releases an idle lane after %i ms, and the next worker with work claims it",
  async (at, ms) => {
    const a = await open();
    const beside = at === "alone" ? null : await open();
    const { path, lane } = await endpointOn(a);
    const input = { tenant: "acme", type: "order.paid", data: 1, idempotencyKey: "once" };
    await a.hooks.publish(input);
    await a.settle();
    expect(await laneOwner(lane)).toBe((await workerIds())[0]);

    lanesKept.otherWorkers.mockRestore();
    passMonotonicTime(ms);
    await a.settle();
    expect(await laneOwner(lane)).toBe(null);
    keepLanes();
    const b = beside ?? (await open());
    // while b is busy, a may claim the lane again
    await a.hooks.stop();
    // a duplicate that finds the lane free does not keep it from being used
    expect(await b.hooks.publish(input)).toMatchObject({ duplicate: true });
    await publish(b, 1);
    await receiver.received(2, { path });
    expect(await laneOwner(lane)).toBe((await workerIds()).at(-1));
    await b.settle();
    expect(await countStates()).toEqual({ success: 2 });
  },
);

test("a process with every slot held leaves a ready lane to another, however late that one comes", async () => {
  const a = await open({ concurrency: 1 });
  const slow = await endpointOn(a, { events: ["slow"] });
  hold(slow.path);
  await publish(a, 1, "slow");
  await receiver.received(1, { path: slow.path });
  const other = await endpointOn(a, { events: ["other"] });
  await publish(a, 1, "other");
  // longer than a busy process leaves a ready lane to others
  passMonotonicTime(2_000);
  await a.advance(2_000);
  await a.hooks.engine?.worker.runNow();
  expect(await laneOwner(other.lane)).toBe(null);
  await open();
  await receiver.received(1, { path: other.path });
  const [, workerOfB] = await workerIds();
  expect(await laneOwner(other.lane)).toBe(workerOfB);
});

test.each(["endpoint", "tenant"])(
  "deliveries wait while their %s is inactive, and are sent later",
  async (of) => {
    const [a, b] = [await open(), await open()];
    const { path, id } = await endpointOn(a);
    const setActive = async (isActive: boolean) => {
      if (of === "tenant") await b.hooks.tenants.upsert("acme", { isActive });
      else await b.hooks.endpoints.update("acme", id, { isActive });
    };
    const release = hold(path, 5);
    // more than fit into memory, so that some wait there and some in the database
    const ids = [...(await publish(a, 5)), ...(await publish(a, 75))];
    await receiver.received(5, { path });

    await setActive(false);
    await untilOnlyFiveInFlight();
    release();
    await Promise.all([a.settle(), b.settle()]);
    expect(receiver.requestsTo(path)).toHaveLength(5);
    expect(await countStates()).toEqual({ success: 5, pending: 75 });

    await setActive(true);
    await Promise.all([a.settle(), b.settle()]);
    expectEachOnce(path, ids);
    expect(await countStates()).toEqual({ success: 80 });
  },
);

test("a resumed endpoint does not wait for a request that hung when it was paused", async () => {
  const a = await open();
  const { path, id } = await endpointOn(a);
  const release = hold(path);
  await publish(a, 1);
  await receiver.received(1, { path });
  await a.hooks.endpoints.update("acme", id, { isActive: false });
  await a.hooks.endpoints.update("acme", id, { isActive: true });
  await publish(a, 1);
  await receiver.received(2, { path });
  release();
  await a.settle();
});

test("an event published right after a pause does not resume deliveries in memory", async () => {
  const a = await open();
  const { path, id } = await endpointOn(a);
  const release = hold(path, 5);
  const ids = await publish(a, 30);
  await receiver.received(5, { path });
  await a.hooks.endpoints.update("acme", id, { isActive: false });
  ids.push(...(await publish(a, 1)));
  release();
  await a.settle();
  expect(receiver.requestsTo(path)).toHaveLength(5);
  await a.hooks.endpoints.update("acme", id, { isActive: true });
  await a.settle();
  expectEachOnce(path, ids);
});

test("a new URL and a new secret apply to the next attempt, also when another instance set them", async () => {
  const [a, b] = [await open(), await open()];
  const { path, id, secret } = await endpointOn(a);
  receiver.answer(path, { status: 500 });
  await publish(a, 1);
  await receiver.received(1, { path });
  await a.settle();

  const moved = `${path}-moved`;
  await b.hooks.endpoints.update("acme", id, { url: receiver.url + moved });
  const rotated = await b.hooks.endpoints.rotateSecret("acme", id, { overlapSeconds: 0 });
  await settleAfter(a, 1.2 * minute);
  expect(receiver.requestsTo(path)).toHaveLength(1);
  const [request] = receiver.requestsTo(moved) as [ReceivedRequest];
  const signed = {
    scheme: "standard-webhooks",
    headers: request.headers as Record<string, string>,
    body: request.body,
    now: a.hooks.clock.now(),
  };
  expect(await verify({ ...signed, secrets: [rotated.secret] })).toEqual({ ok: true });
  expect(await verify({ ...signed, secrets: [secret] })).toMatchObject({ ok: false });
});

test("deleting an endpoint cancels its deliveries: one in flight may succeed, and is not retried", async () => {
  const [a, b] = [await open(), await open()];
  const { path, id } = await endpointOn(a);
  const { opened, open: release } = gate();
  const held = { until: opened };
  receiver.answer(path, [held, held, held, held, { ...held, status: 500 }, {}]);
  await publish(a, 5);
  await publish(a, 95);
  await receiver.received(5, { path });
  await b.hooks.endpoints.delete("acme", id);
  await untilOnlyFiveInFlight();
  release();
  await receiver.idle();
  for (let round = 0; round < 2; round += 1) await Promise.all([a.settle(), b.settle()]);
  expect(await countStates()).toEqual({ success: 4, dead: 96 });
  const { data } = await a.hooks.deliveries.list({ tenant: "acme", reason: "endpoint_deleted", limit: 100 });
  expect(data).toHaveLength(96);
  expect(receiver.requestsTo(path)).toHaveLength(5);
});

test("deliveries of one event that are fetched together share its payload", async () => {
  const api = await open({ started: false });
  await api.hooks.start({ role: "api" });
  const turns = [(await endpointOn(api)).lane, (await endpointOn(api)).lane];
  await publish(api, 2);
  const [workerId] = (await workerIds()) as [number];
  await world.pool.query("update posthorn.lanes set owner = $1", [workerId]);
  const wanted = turns.map((endpointId) => ({ endpointId, maxRows: 5 }));
  const { deliveries } = await fetch(api.hooks.db, workerId, wanted);
  expect(deliveries).toHaveLength(4);
  expect(new Set(deliveries.map(({ delivery }) => delivery.event.payload)).size).toBe(2);
});

test("a lane whose endpoint was deleted while it was claimed is released", async () => {
  const a = await open();
  const { id, lane } = await endpointOn(a);
  await a.hooks.endpoints.delete("acme", id);
  const [worker] = await workerIds();
  await world.pool.query("update posthorn.lanes set owner = $1 where endpoint_id = $2", [worker, lane]);
  await eventually("the lane is released", async () => (await laneOwner(lane)) === null);
});

test("an outcome at the previous URL does not disable the endpoint", async () => {
  const a = await open();
  const { path, id } = await endpointOn(a);
  const answer = hold(path, 1, { status: 410 });
  await publish(a, 1);
  await receiver.received(1, { path });
  await a.hooks.endpoints.update("acme", id, { url: `${receiver.url}${path}-moved` });
  answer();
  await a.settle();
  expect(await countStates()).toEqual({ dead: 1 });
  expect(await a.hooks.endpoints.get("acme", id)).toMatchObject({ isActive: true, disabledReason: null });
  await publish(a, 1);
  await a.settle();
  expect(receiver.requestsTo(`${path}-moved`)).toHaveLength(1);
});

test("an unreadable retry policy falls back to the deployment's, for that endpoint only", async () => {
  const a = await open({ retryPolicy: "1m,1m" });
  const { path, lane } = await endpointOn(a);
  receiver.answer(path, [{ status: 500 }, {}]);
  const unreadable = `update posthorn.endpoints set retry_policy = '{"kind": "gaps"}' where id = $1`;
  await world.pool.query(unreadable, [lane]);
  await publish(a, 1);
  await a.settle();
  expect(await countStates()).toEqual({ failed: 1 });
  await settleAfter(a, 2 * minute);
  expect(await countStates()).toEqual({ success: 1 });
});
