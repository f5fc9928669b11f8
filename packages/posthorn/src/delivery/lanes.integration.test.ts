// Lanes between several Posthorns on one database: who sends, how many at once, and who goes on when one is gone.
import { once } from "node:events";
import { type AddressInfo, createServer, connect as openSocket, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { parseId, verify } from "@posthorn/wire";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { databasePerTest, gate, publishTimes } from "../../../../tests/support/database-per-test.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { fetch } from "../storage/queries/queue/fetch.ts";
import { reap } from "../storage/queries/workers/reap.ts";
import {
  type ReceivedRequest,
  type ScriptedReceiver,
  startScriptedReceiver,
  type TestInstance,
} from "../testing/index.ts";

const minute = 60_000;

let receiver: ScriptedReceiver;

beforeAll(async () => {
  receiver = await startScriptedReceiver();
  // all workers share this process's event loop, so that its load would make one of them seem overloaded by itself
  vi.spyOn(performance, "eventLoopUtilization").mockReturnValue({ idle: 1, active: 0, utilization: 0 });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await receiver.close();
});
const world = databasePerTest();
const { open, countStates } = world;

let paths = 0;
async function endpointOn(instance: TestInstance, options: Record<string, unknown> = {}) {
  paths += 1;
  const path = `/lane-${paths}`;
  const { endpoint, secret } = await instance.hooks.endpoints.create("acme", {
    url: receiver.url + path,
    events: ["*"],
    ...options,
  });
  return { path, secret, id: endpoint.id, lane: parseId("ep", endpoint.id) as string };
}

/** Publishes so many events of a type and returns their ids. */
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

/** The lane's owner has learnt that it is to stop: it holds no more than the five that are in the air. */
async function untilOnlyFiveInFlight(): Promise<void> {
  await eventually("five deliveries are in flight", async () => (await countStates()).in_flight === 5);
}

interface Attempt {
  readonly number: number;
  readonly error: string | null;
  readonly status: number | null;
  readonly worker: number;
}

/** Every delivery's attempts, in order. */
async function attempts(): Promise<Attempt[][]> {
  const { rows } = await world.pool.query(
    `select json_agg(json_build_object('number', number, 'error', error, 'status', status_code, 'worker', worker)
       order by number) as list
     from posthorn.attempts group by delivery_id`,
  );
  return rows.map((row) => row.list);
}

function eventIds(requests: readonly ReceivedRequest[]): string[] {
  return requests.map((request) => JSON.parse(String(request.body)).id);
}

function expectEachOnce(path: string, ids: readonly string[]): void {
  expect(eventIds(receiver.requestsTo(path)).sort()).toEqual([...ids].sort());
}

/** Lets monotonic time pass for everything that measures by it, without waiting. */
function passMonotonicTime(ms: number): void {
  const real = performance.now.bind(performance);
  const spy = vi.spyOn(performance, "now").mockImplementation(() => real() + ms);
  onTestFinished(() => spy.mockRestore());
}

/** A way to the database that can be cut: for the database it is as if the process had died. */
async function openCuttableWay(): Promise<{ connectionString: string; cut: () => void }> {
  const url = new URL(world.connectionString);
  const socketPath = `${url.searchParams.get("host")}/.s.PGSQL.${url.searchParams.get("port")}`;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = openSocket(socketPath);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => other.destroy());
      socket.pipe(other);
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const cut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(cut);
  const { port } = server.address() as AddressInfo;
  const user = url.searchParams.get("user");
  return { connectionString: `postgresql://${user}@127.0.0.1:${port}${url.pathname}`, cut };
}

test.each([2, 3])(
  "an endpoint's limit on attempts in flight holds across %i flooded instances",
  async (count) => {
    const instances: TestInstance[] = [];
    for (let i = 0; i < count; i += 1) instances.push(await open());
    const [first] = instances as [TestInstance];
    const { path } = await endpointOn(first, { events: ["flood.*"] });
    const other = await endpointOn(first, { events: ["ping"] });
    const { opened, open: release } = gate();
    receiver.answer(path, [...Array(5).fill({ until: opened }), { delayMs: 2 }]);

    const ids = await Promise.all(instances.map((instance) => publish(instance, 40, "flood.rose")));
    await receiver.received(5, { path });
    // an event there and back through each of them: all have had their turn while the endpoint's five places are taken
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

test("an event published where the lane is not owned is handed over to its owner", async () => {
  const [a, b] = [await open(), await open()];
  const { path, lane } = await endpointOn(a);
  const { opened, open: release } = gate();
  receiver.answer(path, [{ until: opened }, {}]);
  const ids = await publish(a, 1);
  await receiver.received(1, { path });
  const [workerOfA] = await workerIds();
  expect(await laneOwner(lane)).toBe(workerOfA);

  ids.push(...(await publish(b, 20)));
  await receiver.received(21, { path });
  release();
  await a.settle();
  expectEachOnce(path, ids);
  expect(new Set((await attempts()).flat().map(({ worker }) => worker))).toEqual(new Set([workerOfA]));
});

test("an instance of role api publishes and never sends; a worker delivers", async () => {
  const api = await open({ started: false });
  await api.hooks.start({ role: "api" });
  const worker = await open();
  const { path, lane } = await endpointOn(api);
  const ids = await publish(api, 20);
  await receiver.received(20, { path });
  await worker.settle();
  expectEachOnce(path, ids);
  const [, workerId] = await workerIds();
  expect(await laneOwner(lane)).toBe(workerId);
  expect((await attempts()).flat().every((attempt) => attempt.worker === workerId)).toBe(true);
});

test("an instance that stops hands its lanes over, nothing lost and nothing twice", async () => {
  const [a, b] = [await open(), await open()];
  const { path } = await endpointOn(a);
  const { opened, open: release } = gate();
  receiver.answer(path, [...Array(5).fill({ until: opened }), {}]);
  const ids = await publish(a, 100);
  await receiver.received(5, { path });

  const stopping = a.close();
  release();
  await stopping;
  await b.settle();
  expectEachOnce(path, ids);
  expect(await countStates()).toEqual({ success: 100 });
  expect((await attempts()).every(([only, ...more]) => only?.status === 200 && more.length === 0)).toBe(true);
});

test("a delivery being released during reconciliation is not sent by the releasing worker", async () => {
  const a = await open();
  const { path } = await endpointOn(a, { maxInFlight: 1 });
  const { opened, open: release } = gate();
  receiver.answer(path, [{ until: opened }, {}]);
  const ids = await publish(a, 4);
  await receiver.received(1, { path });

  const holder = await world.pool.connect();
  await holder.query("begin; select from posthorn.queue for update");
  const stopping = a.close();
  const waiting =
    "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await eventually(
    "a statement waits for the lock",
    async () => (await world.pool.query(waiting)).rowCount === 1,
  );
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

test("deliveries of a dead instance are recorded as unknown and delivered by the other", async () => {
  const way = await openCuttableWay();
  const a = await open({ database: way.connectionString });
  const b = await open();
  const { path, lane } = await endpointOn(a);
  receiver.answer(path, [...Array(5).fill("hang"), {}]);
  const ids = await publish(a, 8);
  await receiver.received(5, { path });
  const [workerOfA, workerOfB] = (await workerIds()) as [number, number];
  expect(await laneOwner(lane)).toBe(workerOfA);

  way.cut();
  await b.advance(16_000);
  await b.settle();
  expect(await workerIds()).toEqual([workerOfB]);
  expect(await countStates()).toEqual({ success: 8 });
  for (const list of await attempts()) {
    expect(list).toEqual([
      { number: 1, error: "unknown", status: null, worker: workerOfA },
      { number: 2, error: null, status: 200, worker: workerOfB },
    ]);
  }
  const [delivery] = (await b.hooks.events.get(ids[0] as string)).deliveries;
  const shown = await b.hooks.deliveries.get(delivery?.id as string);
  expect(shown.attempts).toMatchObject([
    { error: "unknown", trigger: "event", startedAt: null, durationMs: null },
    { error: null, trigger: "retry", startedAt: expect.any(Date) },
  ]);
  // the five that hung were sent by both, and nothing else twice
  expect(new Set(eventIds(receiver.requestsTo(path)))).toEqual(new Set(ids));
  expect(receiver.requestsTo(path)).toHaveLength(13);
});

test("a worker that was reaped while running continues under a new id, and its late outcome is ignored", async () => {
  const a = await open();
  const { path } = await endpointOn(a);
  const { opened, open: release } = gate();
  receiver.answer(path, [{ until: opened, status: 500 }, {}]);
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
  const { opened, open: release } = gate();
  receiver.answer(path, [{ until: opened }, {}]);
  const [first] = await publish(a, 1);
  await receiver.received(1, { path });
  const [oldId] = (await workerIds()) as [number];
  await world.pool.query(
    `insert into posthorn.attempts (delivery_id, number, trigger, worker)
     select id, attempts + 1, 'event', 0 from posthorn.queue`,
  );
  expect(await reap(a.hooks.db, { id: oldId, leaseExpiresMs: null })).toMatchObject({ deliveries: 1 });
  release();
  await a.settle();
  expect((await a.hooks.events.get(first as string)).deliveries).toMatchObject([{ state: "success" }]);
});

test("an idle lane is released after a while and acquired by the next worker with work for it", async () => {
  const [a, b] = [await open(), await open()];
  const { path, lane } = await endpointOn(a);
  await publish(a, 1);
  await receiver.received(1, { path });
  await a.settle();
  const [workerOfA, workerOfB] = await workerIds();
  expect(await laneOwner(lane)).toBe(workerOfA);

  passMonotonicTime(1_600);
  await a.settle();
  expect(await laneOwner(lane)).toBe(null);
  // a busy moment of b leaves the lane to whoever takes it first, and that may be a again
  await a.hooks.stop();
  await publish(b, 1);
  await receiver.received(2, { path });
  expect(await laneOwner(lane)).toBe(workerOfB);
  await b.settle();
  expect(await countStates()).toEqual({ success: 2 });
});

test("a duplicate that finds its lane free leaves the lane in use", async () => {
  const a = await open();
  const { path, lane } = await endpointOn(a);
  const input = { tenant: "acme", type: "order.paid", data: 1, idempotencyKey: "once" };
  await a.hooks.publish(input);
  await a.settle();
  passMonotonicTime(31_000);
  await a.settle();
  expect(await laneOwner(lane)).toBe(null);

  expect(await a.hooks.publish(input)).toMatchObject({ duplicate: true });
  await publish(a, 1);
  await receiver.received(2, { path });
});

test("an event for a free lane is sent once a full process has a free slot", async () => {
  const a = await open({ concurrency: 1 });
  const slow = await endpointOn(a, { events: ["slow"] });
  const { opened, open: release } = gate();
  receiver.answer(slow.path, { until: opened });
  await publish(a, 1, "slow");
  await receiver.received(1, { path: slow.path });
  const other = await endpointOn(a, { events: ["other"] });
  await publish(a, 1, "other");
  release();
  await receiver.received(1, { path: other.path });
});

test("a lane that one process has no capacity for is acquired by another", async () => {
  const [a, b] = [await open({ concurrency: 1 }), await open()];
  const slow = await endpointOn(a, { events: ["slow"] });
  const { opened } = gate();
  receiver.answer(slow.path, { until: opened });
  await publish(a, 1, "slow");
  await receiver.received(1, { path: slow.path });
  const other = await endpointOn(a, { events: ["other"] });
  await publish(a, 1, "other");
  await receiver.received(1, { path: other.path });
  const [, workerOfB] = await workerIds();
  expect(await laneOwner(other.lane)).toBe(workerOfB);
  void b;
});

test("pausing an endpoint keeps its deliveries, and resuming delivers them", async () => {
  const [a, b] = [await open(), await open()];
  const { path, id } = await endpointOn(a);
  const { opened, open: release } = gate();
  receiver.answer(path, [...Array(5).fill({ until: opened }), {}]);
  // more than fit into memory, so that some are waiting there and some are still owed in the database
  const ids = [...(await publish(a, 5)), ...(await publish(a, 75))];
  await receiver.received(5, { path });

  await b.hooks.endpoints.update("acme", id, { isActive: false });
  await untilOnlyFiveInFlight();
  ids.push(...(await publish(a, 3)), ...(await publish(b, 3)));
  release();
  await Promise.all([a.settle(), b.settle()]);
  expect(receiver.requestsTo(path)).toHaveLength(5);
  expect(await countStates()).toEqual({ success: 5, pending: 81 });

  await b.hooks.endpoints.update("acme", id, { isActive: true });
  await Promise.all([a.settle(), b.settle()]);
  expectEachOnce(path, ids);
  expect(await countStates()).toEqual({ success: 86 });
});

test("a resumed endpoint does not wait for a request that hung when it was paused", async () => {
  const a = await open();
  const { path, id } = await endpointOn(a);
  const { opened, open: release } = gate();
  receiver.answer(path, [{ until: opened }, {}]);
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
  const { opened, open: release } = gate();
  receiver.answer(path, [...Array(5).fill({ until: opened }), {}]);
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

test("an endpoint that is paused in the middle of a drain keeps nothing claimed, and gets the rest later", async () => {
  const a = await open();
  const { path, id } = await endpointOn(a);
  const ids = [...(await publish(a, 5)), ...(await publish(a, 195))];
  await receiver.received(20, { path });
  await a.hooks.endpoints.update("acme", id, { isActive: false });
  await a.settle();
  await a.settle();
  const { success = 0, ...rest } = await countStates();
  expect(rest).toEqual(success === 200 ? {} : { pending: 200 - success });
  await a.hooks.endpoints.update("acme", id, { isActive: true });
  await a.settle();
  expectEachOnce(path, ids);
});

test("deliveries of an inactive tenant wait until it is active again", async () => {
  const a = await open();
  const { path } = await endpointOn(a);
  const { opened, open: release } = gate();
  receiver.answer(path, [...Array(5).fill({ until: opened }), {}]);
  const ids = await publish(a, 20);
  await receiver.received(5, { path });
  await a.hooks.tenants.upsert("acme", { isActive: false });
  await untilOnlyFiveInFlight();
  release();
  await a.settle();
  expect(await countStates()).toEqual({ success: 5, pending: 15 });
  await a.hooks.tenants.upsert("acme", { isActive: true });
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
  await a.advance(1.2 * minute);
  await a.settle();
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

test("deleting an endpoint cancels its deliveries, except those in flight", async () => {
  const [a, b] = [await open(), await open()];
  const { path, id } = await endpointOn(a);
  const { opened, open: release } = gate();
  receiver.answer(path, [...Array(5).fill({ until: opened }), {}]);
  await publish(a, 5);
  await publish(a, 95);
  await receiver.received(5, { path });
  await b.hooks.endpoints.delete("acme", id);
  await untilOnlyFiveInFlight();
  release();
  await Promise.all([a.settle(), b.settle()]);
  expect(await countStates()).toEqual({ success: 5, dead: 95 });
  const { data } = await a.hooks.deliveries.list({ tenant: "acme", reason: "endpoint_deleted", limit: 100 });
  expect(data).toHaveLength(95);
  expect(receiver.requestsTo(path)).toHaveLength(5);
});

test("an attempt that fails after its endpoint was deleted is not retried", async () => {
  const a = await open();
  const { path, id } = await endpointOn(a);
  const { opened, open: release } = gate();
  receiver.answer(path, { until: opened, status: 500 });
  await publish(a, 1);
  await receiver.received(1, { path });
  await a.hooks.endpoints.delete("acme", id);
  release();
  await receiver.idle();
  await a.settle();
  await a.settle();
  expect(await countStates()).toEqual({ dead: 1 });
});

test("a 410 disables the endpoint, and later events wait until it is enabled", async () => {
  const a = await open();
  const { path, id } = await endpointOn(a);
  receiver.answer(path, [{ status: 410 }, {}]);
  await publish(a, 1);
  await receiver.received(1, { path });
  await a.settle();
  await eventually(
    "the endpoint is disabled",
    async () => !(await a.hooks.endpoints.get("acme", id)).isActive,
  );
  expect(await a.hooks.endpoints.get("acme", id)).toMatchObject({ disabledReason: "gone" });

  const ids = await publish(a, 4);
  await a.settle();
  expect(await countStates()).toEqual({ dead: 1, pending: 4 });
  expect(receiver.requestsTo(path)).toHaveLength(1);
  await a.hooks.endpoints.update("acme", id, { isActive: true });
  await a.settle();
  expect(eventIds(receiver.requestsTo(path).slice(1)).sort()).toEqual(ids.sort());
});

test("a flooded endpoint does not delay others", async () => {
  // one place more than the endpoint that hangs can take, and one that is kept for other tenants
  const a = await open({ concurrency: 7 });
  const hanging = await endpointOn(a, { events: ["flood"] });
  const healthy = await endpointOn(a, { events: ["order.*"] });
  receiver.answer(hanging.path, "hang");
  await publish(a, 2_000, "flood");
  await receiver.received(5, { path: hanging.path });
  for (let count = 1; count <= 20; count += 1) {
    await publish(a, 1);
    await receiver.received(count, { path: healthy.path });
  }
  expect(receiver.concurrency(hanging.path)).toEqual({ now: 5, max: 5 });
});

test("large payloads wait in the database, not in memory", async () => {
  const lanes = 20;
  const api = await open({ started: false, maxEndpointsPerTenant: lanes });
  await api.hooks.start({ role: "api" });
  const { opened } = gate();
  const inFlight: Promise<unknown>[] = [];
  for (let i = 0; i < lanes; i += 1) {
    // 25 MB are in flight at once: on a busy machine an attempt takes longer than the default timeout
    const { path } = await endpointOn(api, { timeoutMs: 60_000 });
    receiver.answer(path, { until: opened });
    inFlight.push(receiver.received(5, { path, timeoutMs: 30_000 }));
  }
  // 50 events for 20 endpoints: 250 MB if every delivery's payload were held
  const rawData = Buffer.from(JSON.stringify("x".repeat(256 * 1024 - 2)));
  await api.hooks.publishMany(Array(50).fill({ tenant: "acme", type: "big", rawData }));
  await open();
  await Promise.all(inFlight);
  const { rows } = await world.pool.query(
    `select sum(octet_length(e.payload))::integer as bytes
     from posthorn.queue q
     join posthorn.events e on e.id = q.event_id
     where q.claimed_by is not null`,
  );
  // 64 MB, and what the one fetch that went past it brought
  expect(rows[0].bytes).toBeGreaterThan(lanes * 5 * 256 * 1024 - 1);
  expect(rows[0].bytes).toBeLessThan((64 + 75) * 1024 * 1024);
});

test("deliveries of one event that are fetched together share its payload", async () => {
  const api = await open({ started: false });
  await api.hooks.start({ role: "api" });
  const turns = [(await endpointOn(api)).lane, (await endpointOn(api)).lane];
  await publish(api, 2);
  const [workerId] = (await workerIds()) as [number];
  await world.pool.query("update posthorn.lanes set owner = $1", [workerId]);
  const { deliveries } = await fetch(
    api.hooks.db,
    workerId,
    turns.map((endpointId) => ({ endpointId, room: 5 })),
  );
  expect(deliveries).toHaveLength(4);
  expect(new Set(deliveries.map(({ delivery }) => delivery.event.payload)).size).toBe(2);
});

test("a lane gets its turn even if slow tenants take every free slot", async () => {
  const a = await open({ concurrency: 2 });
  for (const tenant of ["slow", "slower"]) {
    await a.hooks.tenants.upsert(tenant, {});
    receiver.answer(`/${tenant}`, { delayMs: 100 });
    await a.hooks.endpoints.create(tenant, { url: `${receiver.url}/${tenant}`, events: ["*"] });
    await a.hooks.publishMany(Array(200).fill({ tenant, type: "order.paid", data: {} }));
  }
  await eventually("two requests are open", () => receiver.concurrency().now === 2);
  const { path } = await endpointOn(a);
  await publish(a, 1);
  await receiver.received(1, { path, timeoutMs: 20_000 });
  expect(receiver.requestsTo("/slow").length).toBeLessThan(200);
});

test("a lane whose endpoint was deleted while it was acquired is released", async () => {
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
  const { opened: answered, open: answer } = gate();
  receiver.answer(path, { status: 410, until: answered });
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
  await world.pool.query(`update posthorn.endpoints set retry_policy = '{"kind": "gaps"}' where id = $1`, [
    lane,
  ]);
  await publish(a, 1);
  await a.settle();
  expect(await countStates()).toEqual({ failed: 1 });
  await a.advance(2 * minute);
  await a.settle();
  expect(await countStates()).toEqual({ success: 1 });
});
