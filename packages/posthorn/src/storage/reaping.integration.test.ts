// Races between a worker that writes, another that reaps it, and its own release of lanes.
import { uuidv7 } from "@posthorn/wire";
import { expect, test } from "vitest";
import { lockWaits } from "../../../../tests/support/database/postgres.ts";
import {
  addEndpoint,
  addWorker,
  newEvent,
  openQueue,
  startAnew,
  toSettlement,
} from "../../../../tests/support/database/queue-world.ts";
import type { ClaimedDelivery, Uuid } from "../model.ts";
import { retryAfter } from "../settle/decide.ts";
import type { Queryable } from "./database.ts";
import { syncLanes } from "./queries/endpoints/sync-lanes.ts";
import { claim, ingest, type QueuedDelivery } from "./queries/events/ingest.ts";
import { claimLanes } from "./queries/lanes/claim.ts";
import { releaseLanes, repairLanes } from "./queries/lanes/release.ts";
import { fetch, recoverClaimed } from "./queries/queue/fetch.ts";
import { releaseDeliveries } from "./queries/queue/release.ts";
import { settle } from "./queries/queue/settle.ts";
import { reap } from "./queries/workers/reap.ts";
import { statement } from "./sql.ts";

const queue = openQueue();

async function createWorld() {
  await startAnew(queue);
  const endpoint = await addEndpoint(queue.db);
  const workers: [number, number] = [await addWorker(queue.db), await addWorker(queue.db)];
  return { endpoint, workers };
}

test("a lane that gets its first delivery while its owner is reaped becomes ready", async () => {
  const { endpoint, workers } = await createWorld();
  const [dead, other] = workers;
  const id = await ingestOne(queue.db, endpoint, dead, claim.ifGained);
  await settle(queue.db, dead, [toSettlement(await claimedById(dead, id), "delivered")]);
  const reaped = await queue.db.transaction(async (tx) => {
    await ingestOne(tx, endpoint, other, claim.none);
    const reaping = reap(queue.db, { id: dead, leaseExpiresMs: null });
    await lockWaits(queue.pool);
    return { reaping };
  });
  expect(await reaped.reaping).toMatchObject({ deliveries: 0, lanes: 1 });
  expect(await claimLanes(queue.db, other, 10)).toEqual([{ endpointId: endpoint, hasParked: false }]);
});

test("a worker that is being reaped cannot write", async () => {
  const { endpoint, workers } = await createWorld();
  const [dead] = workers;
  const id = await ingestOne(queue.db, endpoint, dead, claim.ifGained);
  const delivery = await claimedById(dead, id);
  // a lock on its lane suspends the reaping after the deliveries were released
  const late = await queue.db.transaction(async (tx) => {
    await syncLanes(tx, [endpoint]);
    const reaping = reap(queue.db, { id: dead, leaseExpiresMs: null });
    await lockWaits(queue.pool, 1);
    const settling = settle(queue.db, dead, [toSettlement(delivery, "delivered")]);
    await lockWaits(queue.pool, 2);
    const ingesting = ingestOne(queue.db, endpoint, dead, claim.mine);
    await lockWaits(queue.pool, 3);
    return { reaping, settling, ingesting };
  });
  expect(await late.reaping).toMatchObject({ deliveries: 1 });
  expect(await late.settling).toEqual(new Set([id]));
  expect(await late.ingesting).toBe("not written");
  const { rows } = await queue.pool.query("select id, claimed_by, attempts, failures from posthorn.queue");
  expect(rows).toEqual([{ id, claimed_by: null, attempts: 1, failures: 0 }]);
});

test("a settlement that is repeated after a lost reply does not affect the next attempt", async () => {
  const { endpoint, workers } = await createWorld();
  const [worker] = workers;
  const id = await ingestOne(queue.db, endpoint, worker, claim.ifGained);
  const failed = { ...toSettlement(await claimedById(worker, id), "retry"), decision: retryAfter(0) };
  expect(await settle(queue.db, worker, [failed])).toEqual(new Set());
  const turn = { endpointId: endpoint, maxRows: 5 };
  expect((await fetch(queue.db, worker, [turn])).deliveries).toHaveLength(1);
  expect(await settle(queue.db, worker, [failed])).toEqual(new Set([id]));
  const { rows } = await queue.pool.query("select claimed_by, attempts, failures from posthorn.queue");
  expect(rows).toEqual([{ claimed_by: worker, attempts: 1, failures: 1 }]);
});

test("a lane that is released while deliveries of it are released becomes ready", async () => {
  const { endpoint, workers } = await createWorld();
  const [worker, other] = workers;
  const id = await ingestOne(queue.db, endpoint, worker, claim.ifGained);
  const released = await queue.db.transaction(async (tx) => {
    await tx.query(statement("release")`update posthorn.lanes set owner = null where owner = $1`, [worker]);
    const releasing = releaseDeliveries(queue.db, worker, [id]);
    await lockWaits(queue.pool);
    return { releasing };
  });
  await released.releasing;
  expect(await claimLanes(queue.db, other, 10)).toEqual([{ endpointId: endpoint, hasParked: false }]);
});

test("a lane that another worker releases while a dead worker's deliveries are released becomes ready", async () => {
  const { endpoint, workers } = await createWorld();
  const [dead, other] = workers;
  await ingestOne(queue.db, endpoint, dead, claim.ifGained);
  await queue.pool.query("update posthorn.lanes set owner = $1", [other]);
  const reaped = await queue.db.transaction(async (tx) => {
    await tx.query(statement("release")`update posthorn.lanes set owner = null where owner = $1`, [other]);
    const reaping = reap(queue.db, { id: dead, leaseExpiresMs: null });
    await lockWaits(queue.pool);
    return { reaping };
  });
  expect(await reaped.reaping).toMatchObject({ deliveries: 1 });
  expect(await claimLanes(queue.db, other, 10)).toHaveLength(1);
});

test("a lane is not released while deliveries of it are released", async () => {
  const { endpoint, workers } = await createWorld();
  const [worker] = workers;
  const id = await ingestOne(queue.db, endpoint, worker, claim.ifGained);
  await queue.db.transaction(async (tx) => {
    await releaseDeliveries(tx, worker, [id]);
    expect(await releaseLanes(queue.db, worker, [endpoint])).toEqual(new Set());
  });
  expect(await releaseLanes(queue.db, worker, [endpoint])).toEqual(new Set([endpoint]));
  expect(await claimLanes(queue.db, worker, 10)).toHaveLength(1);
});

test("a lane that neither has an owner nor is ready is repaired if it has deliveries, unless it is paused", async () => {
  const { endpoint, workers } = await createWorld();
  const [worker] = workers;
  await ingestOne(queue.db, endpoint, worker, claim.none);
  const strand = (paused: boolean) =>
    queue.pool.query("update posthorn.lanes set owner = null, ready_at = null, paused = $1", [paused]);
  await strand(true);
  expect(await repairLanes(queue.db)).toBe(0);
  await strand(false);
  expect(await repairLanes(queue.db)).toBe(1);
  expect(await claimLanes(queue.db, worker, 10)).toHaveLength(1);
});

test("a worker is not reaped while it is writing", async () => {
  const { endpoint, workers } = await createWorld();
  const [busy] = workers;
  await queue.db.transaction(async (tx) => {
    await ingestOne(tx, endpoint, busy, claim.ifGained);
    expect(await reap(queue.db, { id: busy, leaseExpiresMs: null })).toBeNull();
  });
  expect(await fetch(queue.db, busy, [{ endpointId: endpoint, maxRows: 5 }])).toMatchObject({
    deliveries: [],
  });
  expect(await recoverClaimed(queue.db, busy, [])).toHaveLength(1);
});

/** One event for the first endpoint. */
async function ingestOne(
  on: Queryable,
  endpointId: Uuid,
  workerId: number,
  how: QueuedDelivery["claim"],
): Promise<Uuid> {
  const event = newEvent();
  const id = uuidv7();
  const { written } = await ingest(on, {
    workerId,
    delivers: true,
    routes: new Map(),
    events: [event],
    keys: [],
    outbox: [],
    deliveries: [{ id, eventId: event.id, endpointId, claim: how, isOrdered: false, claimBatch: null }],
    collected: [],
    foreignLanes: how === claim.mine ? [] : [endpointId],
    peerLanes: new Map(),
  });
  return written ? id : "not written";
}

async function claimedById(worker: number, id: Uuid): Promise<ClaimedDelivery> {
  const claimed = await recoverClaimed(queue.db, worker, []);
  return claimed.find((delivery) => delivery.id === id) as ClaimedDelivery;
}
