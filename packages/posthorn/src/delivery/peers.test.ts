import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { uuidTimeMs, uuidv7 } from "@posthorn/wire";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../../../../tests/support/eventually.ts";
import type { StoredEvents } from "../fan-out/fan-out.ts";
import type { Planned } from "../fan-out/plan.ts";
import type { Event, Uuid } from "../model.ts";
import { silentLogger } from "../observe/log.ts";
import { claim } from "../storage/queries/events/ingest.ts";
import type { DeliveriesFrame } from "./frames.ts";
import { Peers, type PeersOptions } from "./peers.ts";

const lane = uuidv7();

type Store = PeersOptions["store"];

const storesAll: Store = async (events) => storedEvents(events.map(() => 1));

function storedEvents(deliveries: (number | null)[], refusedLanes: Uuid[] = []): StoredEvents {
  return { deliveries, refusedLanes, routingVersions: [["acme", 1]] };
}

async function openPeers({ refuses = [] as Uuid[], store = storesAll } = {}) {
  const seen = { frames: [] as DeliveriesFrame[], lost: 0, notPassed: [] as number[], gone: [] as number[] };
  const peers = new Peers({
    logger: silentLogger,
    accept: async (frame) => {
      seen.frames.push(frame);
      return refuses;
    },
    store,
    onLost: () => {
      seen.lost += 1;
    },
    onNotPassed: (workerId) => seen.notPassed.push(workerId),
    onGone: (workerId) => seen.gone.push(workerId),
  });
  await peers.listen();
  onTestFinished(() => peers.close());
  return { peers, seen, path: peers.path as string };
}

/** Connects to the worker and waits until its lane can be used. */
async function meet(peers: Peers, workerId: number, socket: string): Promise<void> {
  peers.update([{ id: workerId, socket }]);
  peers.noteOwners([], new Map([[lane, workerId]]));
  await eventually("the workers are connected", () => peers.ownerOf(lane) === workerId);
}

function newEvent(payload = Buffer.from("{}")): Event {
  const id = uuidv7();
  const createdAt = new Date(uuidTimeMs(id));
  const rest = { type: "a", apiVersion: "1", subject: null, sequence: null };
  return { id, tenant: "acme", payload, createdAt, ...rest };
}

function row(owner: number, how: Planned["claim"] = claim.byOwner): Planned {
  const event = newEvent();
  return {
    id: event.id,
    eventId: event.id,
    endpointId: lane,
    event,
    target: { version: 3 },
    claim: how,
    owner,
  } as unknown as Planned;
}

test("deliveries reach the owner of their lane, and it is notified of unclaimed ones", async () => {
  const sender = await openPeers();
  const owner = await openPeers();
  await meet(sender.peers, 5, owner.path);
  const passed = row(5);
  sender.peers.pass([passed, row(5, claim.none)]);
  await eventually("the frame arrives", () => owner.seen.frames.length === 1);
  expect(owner.seen.frames).toMatchObject([
    { workerId: 5, deliveries: [{ delivery: { id: passed.id }, targetVersion: 3 }], due: [lane] },
  ]);
});

test("a worker that closes its socket is gone; one that is left is not", async () => {
  const worker = await openPeers();
  const [closed, left] = [await openPeers(), await openPeers()];
  await meet(worker.peers, 5, closed.path);
  await closed.peers.close();
  await eventually("it is gone", () => worker.seen.gone.length === 1);
  await meet(worker.peers, 6, left.path);
  worker.peers.update([]);
  await eventually("nobody is connected", () => worker.peers.isAlone);
  expect(worker.seen.gone).toEqual([5]);
});

test("a worker is notified of due deliveries over its socket", async () => {
  const sender = await openPeers();
  const owner = await openPeers();
  await meet(sender.peers, 5, owner.path);
  expect(sender.peers.notifyDue(5, [lane])).toBe(true);
  await eventually("the frame arrives", () => owner.seen.frames.length === 1);
  expect(owner.seen.frames).toMatchObject([{ workerId: 5, deliveries: [], due: [lane] }]);
});

test("a worker that does not read its socket is no longer notified over it until it does", async () => {
  const sender = await openPeers();
  const path = sender.path.replace(/[0-9a-f]+\.sock$/, `${randomBytes(8).toString("hex")}.sock`);
  const sockets: Socket[] = [];
  const stopped = createServer({ pauseOnConnect: true }, (socket) => sockets.push(socket)).listen(path);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    stopped.close();
  });
  await once(stopped, "listening");
  await meet(sender.peers, 5, path);
  // frames of 0.4 MB
  const lanes = Array<Uuid>(10_000).fill(lane);
  let sent = 0;
  while (sent < 100 && sender.peers.notifyDue(5, lanes)) sent += 1;
  expect(sent).toBeGreaterThan(1);
  expect(sent).toBeLessThan(100);
  expect(sender.peers.ownerOf(lane)).toBeNull();
  sockets[0]?.resume();
  await eventually("it is notified again", () => sender.peers.notifyDue(5, [lane]));
});

test("a lane that refused a delivery gets no claimed ones for a while", async () => {
  const sender = await openPeers();
  const owner = await openPeers({ refuses: [lane] });
  await meet(sender.peers, 5, owner.path);
  expect(sender.peers.accepts(lane)).toBe(true);
  sender.peers.pass([row(5)]);
  await eventually("the refusal arrives", () => !sender.peers.accepts(lane));
  expect(sender.peers.ownerOf(lane)).toBe(5);
});

test("a process that checks whether a socket is in use causes no reconciliation", async () => {
  const owner = await openPeers();
  const check = connect(owner.path, () => check.destroy());
  await new Promise((resolve) => check.once("close", resolve));
  const sender = await openPeers();
  await meet(sender.peers, 5, owner.path);
  sender.peers.update([]);
  await eventually("the owner notices the end of the peer", () => owner.seen.lost === 1);
});

test("a worker that loses its connection reconciles, and a delivery that cannot be passed is reported", async () => {
  const sender = await openPeers();
  const owner = await openPeers();
  await meet(sender.peers, 5, owner.path);
  sender.peers.update([]);
  await eventually("the owner notices", () => owner.seen.lost === 1);
  expect(sender.peers.ownerOf(lane)).toBeNull();
  sender.peers.pass([row(5)]);
  expect(sender.seen.notPassed).toEqual([5]);
  expect(sender.peers.notifyDue(5, [lane])).toBe(false);
});

test("a connection with an invalid frame is closed, and others continue", async () => {
  const sender = await openPeers();
  const owner = await openPeers();
  await meet(sender.peers, 5, owner.path);
  const stranger = connect(owner.path);
  const closed = new Promise((resolve) => stranger.once("close", resolve));
  stranger.write("GET / HTTP/1.1\r\n\r\n");
  await closed;
  sender.peers.pass([row(5)]);
  await eventually("the frame arrives", () => owner.seen.frames.length === 1);
});

test("sockets of other machines, users and versions are not connected to", async () => {
  const sender = await openPeers();
  const owner = await openPeers();
  sender.peers.noteOwners([], new Map([[lane, 5]]));
  const gone = owner.path.replace(/[0-9a-f]+\.sock$/, "0.sock");
  for (const socket of [null, gone, owner.path.replace("/v1-", "/v0-"), `/elsewhere${owner.path}`])
    sender.peers.update([{ id: 5, socket }]);
  await meet(sender.peers, 6, owner.path);
  expect(sender.peers.ownerOf(lane)).toBe(6);
});

test("a worker stores the events that another one passes, and replies to each batch", async () => {
  const sender = await openPeers();
  const batches: (readonly Event[])[] = [];
  const owner = await openPeers({
    store: async (events) => {
      const turn = batches.push(events);
      // the first batch is stored last
      if (turn === 1) await eventually("the second batch arrives", () => batches.length === 2);
      return storedEvents(events.map(() => turn));
    },
  });
  await meet(sender.peers, 5, owner.path);
  const events = [newEvent(), newEvent(Buffer.alloc(100_000, "x"))];
  const replies = [sender.peers.passEvents(5, events), sender.peers.passEvents(5, [newEvent()])];
  expect(await Promise.all(replies)).toEqual([storedEvents([1, 1]), storedEvents([2])]);
  expect(batches[0]).toEqual(events);
});

test("no events are passed for lanes that the worker no longer owns", async () => {
  const sender = await openPeers();
  const owner = await openPeers({ store: async () => storedEvents([null], [lane]) });
  await meet(sender.peers, 5, owner.path);
  expect(await sender.peers.passEvents(5, [newEvent()])).toEqual(storedEvents([null], [lane]));
  expect(sender.peers.accepts(lane)).toBe(false);
});

test("it is unknown what a worker stored if the connection is lost before its reply", async () => {
  const sender = await openPeers();
  const owner = await openPeers({ store: () => new Promise(() => {}) });
  await meet(sender.peers, 5, owner.path);
  const passed = sender.peers.passEvents(5, [newEvent()]);
  await owner.peers.close();
  expect(await passed).toBeNull();
  expect(await sender.peers.passEvents(5, [newEvent()])).toBeNull();
});

test("a worker that does not reply is passed no more events", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const sender = await openPeers();
  const owner = await openPeers({ store: () => new Promise(() => {}) });
  sender.peers.update([{ id: 5, socket: owner.path }]);
  sender.peers.noteOwners([], new Map([[lane, 5]]));
  while (sender.peers.ownerOf(lane) === null) await new Promise((resolve) => setImmediate(resolve));
  const passed = sender.peers.passEvents(5, [newEvent()]);
  vi.advanceTimersByTime(2_500);
  expect(await passed).toBeNull();
  sender.peers.update([{ id: 5, socket: owner.path }]);
  expect(sender.peers.ownerOf(lane)).toBeNull();
});
