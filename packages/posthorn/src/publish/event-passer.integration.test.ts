// Two instances on one database: events that one publishes for lanes of the other.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { keepLanes } from "../../../../tests/support/keep-lanes.ts";
import { Peers } from "../delivery/peers.ts";
import { Worker } from "../delivery/worker.ts";
import type { Event } from "../model.ts";
import type { TestInstance } from "../testing/index.ts";

const receiver = await receiverPerFile();
const world = databasePerTest();

beforeEach(() => void keepLanes());
afterEach(() => {
  vi.restoreAllMocks();
});

const order = { tenant: "acme", type: "order.paid", data: { text: "hello" } };
const { passEvents } = Peers.prototype;
type Pass = typeof passEvents;

/** The second instance knows that the first one owns the lane, and is connected to it. */
async function openOwnerAndOther(): Promise<{ owner: TestInstance; other: TestInstance; path: string }> {
  const [owner, other] = [await world.open(), await world.open()];
  const { path } = await newEndpoint(owner, receiver);
  await owner.hooks.publish(order);
  await receiver.received(1, { path });
  const pass = vi.spyOn(Peers.prototype, "passEvents");
  await eventually("events are passed to the owner", async () => {
    await other.hooks.publish(order);
    return pass.mock.calls.length > 0;
  });
  pass.mockRestore();
  return { owner, other, path };
}

async function stored(): Promise<{ id: string; type: string }[]> {
  const { rows } = await world.pool.query("select 'evt_' || id as id, type from posthorn.events order by id");
  return rows;
}

/** Publishes an event while the passing of events is replaced, and expects that it is stored and sent once. */
async function publishWhile({ other, path }: { other: TestInstance; path: string }, pass: Pass) {
  const before = (await stored()).length;
  vi.spyOn(Peers.prototype, "passEvents").mockImplementation(pass);
  const result = await other.hooks.publish({ ...order, type: "order.lost" });
  await receiver.received(before + 1, { path });
  expect((await stored()).map(({ id }) => id)).toContain(result.id);
  expect(await stored()).toHaveLength(before + 1);
  return result;
}

test("an event is stored by the process that owns its lanes, and by no other", async () => {
  const { owner, other, path } = await openOwnerAndOther();
  const before = (await stored()).length;
  const ingest = vi.spyOn(Worker.prototype, "ingest");
  const outcomes = await other.hooks.publishMany(Array(20).fill({ ...order, type: "order.passed" }));
  await receiver.received(before + 20, { path });
  await owner.settle();
  expect(outcomes.map(({ ok }) => ok)).toEqual(Array(20).fill(true));
  expect(outcomes[0]).toMatchObject({ result: { sequence: null, duplicate: false, deliveries: 1 } });
  expect((await stored()).filter(({ type }) => type === "order.passed")).toHaveLength(20);
  expect(ingest.mock.calls.flatMap(([{ events }]) => events)).toHaveLength(20);
  const storing = ingest.mock.contexts.map((worker) => (worker as Worker).workerId);
  expect(new Set(storing)).toEqual(new Set([owner.hooks.engine?.worker.workerId]));
  expect(await world.countStates()).toEqual({ success: before + 20 });
});

test("an event is not stored again if only the reply of the owner was lost", async () => {
  const result = await publishWhile(await openOwnerAndOther(), async function (this: Peers, ...args) {
    await passEvents.apply(this, args);
    return null;
  });
  expect(result).toMatchObject({ duplicate: false, deliveries: null });
});

test("an event that the owner did not get is stored by the process that publishes", async () => {
  const result = await publishWhile(await openOwnerAndOther(), async () => null);
  expect(result).toMatchObject({ duplicate: false, deliveries: 1 });
});

test("an event that both processes store at the same time is stored once, and others of its batch are not affected", async () => {
  const opened = await openOwnerAndOther();
  const late: Promise<unknown>[] = [];
  const before = (await stored()).length;
  vi.spyOn(Peers.prototype, "passEvents").mockImplementation(async function (this: Peers, owner, events) {
    // both processes store the first event now
    late.push(passEvents.call(this, owner, events.slice(0, 1) as Event[]));
    return null;
  });
  const outcomes = await opened.other.hooks.publishMany(Array(3).fill(order));
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true]);
  await Promise.all(late);
  await receiver.received(before + 3, { path: opened.path });
  expect(await stored()).toHaveLength(before + 3);
  expect(receiver.requestsTo(opened.path)).toHaveLength(before + 3);
});

test("if another process stored a part of a batch whose connection is lost, the rest is stored too", async () => {
  const { other } = await openOwnerAndOther();
  vi.spyOn(Peers.prototype, "passEvents").mockImplementation(async () => null);
  const { ingest } = Worker.prototype;
  const lost = vi.spyOn(Worker.prototype, "ingest").mockImplementation(async function (this: Worker, batch) {
    const { id, tenant, type, apiVersion, payload } = batch.events[0] as Event;
    lost.mockImplementation(ingest);
    await world.pool.query(
      "insert into posthorn.events (id, tenant, type, api_version, payload) values ($1, $2, $3, $4, $5)",
      [id, tenant, type, apiVersion, payload],
    );
    throw Object.assign(new Error("Connection terminated"), { code: "ECONNRESET" });
  });
  const before = (await stored()).length;
  const outcomes = await other.hooks.publishMany(Array(3).fill(order));
  expect(outcomes).toMatchObject([
    { ok: true, result: { deliveries: null } },
    { ok: true, result: { deliveries: 1 } },
    { ok: true, result: { deliveries: 1 } },
  ]);
  expect(await stored()).toHaveLength(before + 3);
});

test("events that could not be passed count towards the limit of waiting events, and wait as long as others", async () => {
  const { other } = await openOwnerAndOther();
  vi.spyOn(Peers.prototype, "passEvents").mockImplementation(async () => null);
  const lock = await world.pool.connect();
  await lock.query("begin");
  await lock.query("lock table posthorn.events in share mode");
  const codes = new Map<string, number>();
  const publishes: Promise<unknown>[] = [];
  for (let round = 0; round < 21; round += 1) {
    const outcomes = other.hooks.publishMany(Array(1_000).fill(order)).then((all) => {
      for (const outcome of all) {
        const code = outcome.ok ? "ok" : outcome.error.code;
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
    });
    publishes.push(outcomes);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const real = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => real() + 5_000);
  await Promise.all(publishes);
  await lock.query("rollback");
  lock.release();
  // 500 are being written and no longer wait
  expect(Object.fromEntries(codes)).toEqual({ overloaded: 500, database_unavailable: 20_500 });
});

test("a process that only passes a tenant's events learns of changed endpoints", async () => {
  const { owner, other } = await openOwnerAndOther();
  const pass = vi.spyOn(Peers.prototype, "passEvents");
  const second = await newEndpoint(owner, receiver);
  await other.hooks.publish(order);
  expect(pass).toHaveBeenCalledTimes(1);
  await receiver.received(1, { path: second.path });
  // it loads the routes again, and reads the owner of the second lane, before it passes events
  await other.hooks.publish(order);
  expect(pass).toHaveBeenCalledTimes(1);
  await eventually("events are passed again", async () => {
    await other.hooks.publish(order);
    return pass.mock.calls.length > 1;
  });
});

test("a process that is stopping refuses events, and they are stored by the process that publishes", async () => {
  const { owner, other, path } = await openOwnerAndOther();
  const before = (await stored()).length;
  const pass = vi.spyOn(Peers.prototype, "passEvents");
  const stopping = owner.hooks.stop();
  for (let count = 0; count < 5; count += 1) await other.hooks.publish(order);
  await stopping;
  expect(pass.mock.calls.length).toBeLessThanOrEqual(1);
  await receiver.received(before + 5, { path });
  expect(await stored()).toHaveLength(before + 5);
});
