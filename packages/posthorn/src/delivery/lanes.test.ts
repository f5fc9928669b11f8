// Turns and rates: the parts that need no database.
import { expect, onTestFinished, test } from "vitest";
import type { Planned } from "../fan-out/plan.ts";
import type { ClaimedDelivery, Target } from "../model.ts";
import { silentLogger } from "../observe/log.ts";
import type { IngestResult } from "../storage/queries/events/ingest.ts";
import { applyIngested, reserve } from "./claimed-on-insert.ts";
import { HealthRecorder } from "./health-recorder.ts";
import type { Lane } from "./lane.ts";
import { Lanes, type Start } from "./lanes.ts";
import { RateBucket } from "./rate-bucket.ts";

function createLanes(): Lanes {
  return new Lanes({ concurrency: 500, clock: { now: () => performance.now(), databaseMs: () => 0 } });
}

function openLane(lanes: Lanes, endpointId: string, tenant = "acme", more: Partial<Target> = {}): Lane {
  const target = { endpointId, tenant, maxInFlight: 5, rateLimit: null, allowedPerMinute: null, ...more };
  return lanes.open({ maxInFlightBurst: target.maxInFlight, ...target } as Target, null);
}

const MEGABYTE = 1024 * 1024;
const deliveryOf = (id: string, payload: Uint8Array) => ({ id, event: { payload } }) as ClaimedDelivery;

test("with more lanes than one fetch serves, each has its turn in the next fetch at the latest", () => {
  const lanes = createLanes();
  for (let n = 0; n < 61; n += 1) lanes.markDue(openLane(lanes, String(n)));
  const seen = new Set<string>();
  for (let turn = 0; turn < 2; turn += 1) {
    for (const { endpointId } of lanes.nextToFetch(60)) seen.add(endpointId);
    expect(lanes.hasLanesToFetch).toBe(true);
  }
  expect(seen.size).toBe(61);
});

test("a shared payload counts once in the memory budget; unshared payloads fill it at 64 MB", () => {
  const lanes = createLanes();
  const opened = Array.from({ length: 300 }, (_, n) => openLane(lanes, String(n), "hub"));
  const payload = Buffer.alloc(MEGABYTE);
  const shared = opened.map((lane, n) => [deliveryOf(`s${n}`, payload), lane] as const);
  for (const [delivery, lane] of shared) lanes.admit(delivery, lane);
  expect(lanes.hasCapacity).toBe(true);
  const other = openLane(lanes, "other");
  lanes.markDue(other);
  expect(lanes.nextToFetch(10)).toEqual([other]);
  // released by all but one, it still counts
  for (const [delivery, lane] of shared.slice(1)) lanes.settled(delivery, lane, true);
  const own = Array.from({ length: 63 }, (_, n) => deliveryOf(`o${n}`, Buffer.alloc(MEGABYTE)));
  const [first] = opened as [Lane];
  for (const delivery of own.slice(1)) lanes.admit(delivery, first);
  expect(lanes.hasCapacity).toBe(true);
  lanes.admit(own[0] as ClaimedDelivery, first);
  expect(lanes.hasCapacity).toBe(false);
  lanes.settled(...(shared[0] as (typeof shared)[0]), true);
  expect(lanes.hasCapacity).toBe(true);
});

test("a lane that waited for memory is fetched as soon as a settled delivery frees some", () => {
  const lanes = createLanes();
  const lane = openLane(lanes, "1", "acme", { maxInFlight: 60 });
  for (let n = 0; n < 52; n += 1) lanes.admit(deliveryOf(String(n), Buffer.alloc(MEGABYTE)), lane);
  lanes.markDue(lane);
  const started: Start[] = [];
  while (started.length < 52) {
    started.push(...lanes.startNext());
    lanes.continueStarting();
  }
  for (const start of started) lanes.attemptEnded(start.lane);
  expect(lanes.nextToFetch(10)).toEqual([]);
  lanes.takeEffects();
  const [first, ...others] = started as [Start, ...Start[]];
  lanes.settled(first.delivery, lane, true);
  expect(lanes.takeEffects()).toEqual([{ kind: "fetch" }]);
  expect(lanes.nextToFetch(10)).toEqual([lane]);
  // nothing waits for memory now
  for (const { delivery } of others) lanes.settled(delivery, lane, true);
  expect(lanes.takeEffects()).toEqual([]);
});

test("a yielded lane is released as soon as its last delivery is settled", () => {
  const lanes = createLanes();
  const lane = openLane(lanes, "1");
  for (const id of ["a", "b"]) lanes.admit(deliveryOf(id, Buffer.alloc(1)), lane);
  const [first, last] = lanes.startNext() as [Start, Start];
  lanes.yieldSome(1);
  lanes.takeEffects();
  for (const { delivery } of [first, last]) {
    expect(lanes.takeEffects()).toEqual([]);
    lanes.attemptEnded(lane);
    lanes.settled(delivery, lane, true);
  }
  expect(lanes.takeEffects()).toEqual([{ kind: "survey" }]);
});

test("a yielded lane whose health has to be recorded is released as soon as it is", async () => {
  const lanes = createLanes();
  const lane = openLane(lanes, "1");
  lanes.changeHealth(lane, { ...lane.health, lastError: "timeout" });
  lanes.yieldSome(1);
  lanes.takeEffects();
  lanes.releaseIfDrained(lane);
  expect(lanes.takeEffects()).toEqual([]);
  const recorder = new HealthRecorder({
    db: { query: async () => [] },
    logger: silentLogger,
    reportsCircuits: false,
    lease: { workerId: 1 },
    onRecorded: (recorded) => {
      for (const each of recorded) lanes.releaseIfDrained(each);
    },
  });
  onTestFinished(() => recorder.stop());
  await recorder.start();
  recorder.note(lane);
  await recorder.runNow();
  expect(lanes.takeEffects()).toEqual([{ kind: "survey" }]);
});

test("a yielded lane whose attempt takes longer than a second is reopened and starts its next delivery", () => {
  const lanes = createLanes();
  const [slow, idle] = [openLane(lanes, "1"), openLane(lanes, "2")];
  lanes.admit(deliveryOf("hangs", Buffer.alloc(1)), slow);
  lanes.startNext();
  lanes.yieldSome(1);
  const [effect] = lanes.takeEffects();
  expect(effect).toEqual({ kind: "resume", lane: slow, afterMs: 1_000 });
  lanes.resume(slow);
  expect([slow.state, idle.state]).toEqual(["open", "open"]);
  // rows that were stored while it drained
  expect(lanes.nextToFetch(10)).toEqual([slow]);
  lanes.admit(deliveryOf("next", Buffer.alloc(1)), slow);
  expect(lanes.startNext()).toHaveLength(1);
  // another lane is yielded in its place
  lanes.yieldSome(1);
  expect([slow.state, idle.state]).toEqual(["open", "yielding"]);
});

test("rows for a lane that was opened during their ingest are fetched at once", () => {
  const lanes = createLanes();
  const target = { endpointId: "mine", tenant: "acme", isActive: true, ...burst, rateLimit: null };
  const rows = ["mine", "other"].map(
    (endpointId) => ({ id: endpointId, endpointId, target: { ...target, endpointId }, claim: 0 }) as Planned,
  );
  const peers = { ownerOf: () => null, accepts: () => true };
  reserve(lanes, rows, { mayGainLanes: true, peers });
  openLane(lanes, "mine");
  const nothing = { refusedEventIds: [], deferredEventIds: [], behindIds: [], gainedLanes: new Map() };
  const { due } = applyIngested(lanes, rows, nothing as unknown as IngestResult);
  expect(due).toEqual(new Set(["mine"]));
});

test("large deliveries are started four megabytes at a time, so that other work is not delayed", () => {
  const lanes = createLanes();
  const payload = Buffer.alloc(MEGABYTE);
  for (let n = 0; n < 12; n += 1) lanes.admit(deliveryOf(String(n), payload), openLane(lanes, String(n)));
  expect(lanes.startNext()).toHaveLength(5);
  expect(lanes.takeEffects()).toEqual([{ kind: "continue" }]);
  // nothing is started before the event loop had its turn
  expect(lanes.startNext()).toHaveLength(0);
  lanes.continueStarting();
  expect(lanes.startNext()).toHaveLength(5);
  lanes.continueStarting();
  expect(lanes.startNext()).toHaveLength(2);
});

test("a bucket starts empty, gives its rate, and saves up one second's worth at most", () => {
  const bucket = new RateBucket(10, 0);
  expect(bucket.take(0)).toBe(false);
  expect(bucket.waitMs(0)).toBe(100);
  expect(bucket.take(100)).toBe(true);
  expect(bucket.take(100)).toBe(false);
  const taken = () => Array.from({ length: 30 }, () => bucket.take(60_000)).filter(Boolean).length;
  expect(taken()).toBe(10);
  expect(bucket.waitMs(60_000)).toBe(100);
});

test("an allowed rate holds in every minute, across changes of the owner", () => {
  let now = 0;
  const clock = { now: () => now, databaseMs: () => now };
  const workers = Array.from({ length: 3 }, () => new Lanes({ concurrency: 500, clock }));
  const allowedPerMinute = 30;
  const startedAt: number[] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    const lanes = workers[turn % 3] as Lanes;
    const lane = openLane(lanes, "e", "acme", { allowedPerMinute });
    for (let n = 0; n < 100; n += 1) lanes.admit(deliveryOf(String(turn * 100 + n), Buffer.alloc(1)), lane);
    let resumeAt = now;
    const endsAt = now + 22_300;
    for (let step = 0; now < endsAt; step += 1) {
      if (now >= resumeAt) lanes.resume(lane);
      for (const start of lanes.startNext()) {
        startedAt.push(now);
        lanes.attemptEnded(start.lane);
        lanes.settled(start.delivery, start.lane, true);
      }
      for (const effect of lanes.takeEffects()) if (effect.kind === "resume") resumeAt = now + effect.afterMs;
      // its settings are read again, which must not fill the bucket
      if (step === 100) lanes.retarget(lane, { ...lane.target, version: turn, isActive: true });
      now += 100;
    }
    for (const { id } of lanes.withdrawWaiting(lane)) lanes.releaseEnded([id], true);
    lane.beginRelease();
    lanes.close(lane);
  }
  const inMinuteFrom = (from: number) => startedAt.filter((at) => at >= from && at < from + 60_000).length;
  expect(Math.max(...startedAt.map(inMinuteFrom))).toBeLessThanOrEqual(allowedPerMinute);
  expect(startedAt.length).toBeGreaterThan(100);
});

const failure = { kind: "failure", askedMs: null, error: "HTTP 500", isBusy: false } as const;
const burst = { maxInFlight: 5, maxInFlightBurst: 50 };

let admitted = 0;
function admitMany(lanes: Lanes, lane: Lane, count: number): void {
  for (let n = 0; n < count; n += 1) {
    admitted += 1;
    lanes.admit(deliveryOf(String(admitted), Buffer.alloc(1)), lane);
  }
}

/** Admits deliveries whose attempts succeed fast, one after the other. Returns the highest number in flight. */
function succeed(lanes: Lanes, lane: Lane, count: number): number {
  admitMany(lanes, lane, count);
  const inFlight = [...lanes.startNext()];
  let most = inFlight.length;
  for (let start = inFlight.shift(); start !== undefined; start = inFlight.shift()) {
    lane.adjustCap({ kind: "success" }, 1);
    lanes.attemptEnded(lane);
    lanes.settled(start.delivery, lane, true);
    inFlight.push(...lanes.startNext());
    most = Math.max(most, inFlight.length);
  }
  return most;
}

test("a lane with waiting deliveries may have more in flight after fast successes, and fewer after a failure", () => {
  const lanes = createLanes();
  const lane = openLane(lanes, "1", "acme", burst);
  expect(succeed(lanes, lane, 100)).toBeGreaterThan(5);
  expect(lane.cap).toBeLessThan(50);
  expect(succeed(lanes, lane, 2_000)).toBe(50);
  lane.adjustCap(failure, 1);
  expect(lane.cap).toBe(25);
  admitMany(lanes, lane, 100);
  expect(lanes.startNext()).toHaveLength(25);
  lane.adjustCap({ ...failure, isBusy: true }, 1);
  expect(lane.cap).toBe(5);
  lanes.attemptEnded(lane);
  expect(lanes.startNext()).toEqual([]);
});

test.each([
  ["sets the same limit twice", { maxInFlight: 1, maxInFlightBurst: 1 }, 1],
  ["allows a rate", { ...burst, allowedPerMinute: 6_000_000 }, 5],
])("the cap of an endpoint that %s does not grow", (_, settings, cap) => {
  let now = 0;
  const lanes = new Lanes({ concurrency: 500, clock: { now: () => now, databaseMs: () => now } });
  const lane = openLane(lanes, "1", "acme", settings);
  now = 60_000;
  for (let n = 0; n < 200; n += 1) succeed(lanes, lane, 10);
  expect(lane.cap).toBe(cap);
});

test("a cap that is not reached does not grow", () => {
  const lanes = createLanes();
  const lane = openLane(lanes, "1", "acme", burst);
  for (let n = 0; n < 100; n += 1) expect(succeed(lanes, lane, 5)).toBe(5);
  expect(lane.cap).toBe(5);
});

test("deliveries that wait for their subject do not make the cap grow", () => {
  const lanes = createLanes();
  const lane = openLane(lanes, "1", "acme", burst);
  const inSubject = (n: number) => {
    const event = { payload: Buffer.alloc(1), subject: `s${n % 5}`, sequence: n };
    return { id: `o${n}`, event, isOrdered: true } as unknown as ClaimedDelivery;
  };
  for (let n = 0; n < 1_000; n += 1) lanes.admit(inSubject(n), lane);
  const inFlight = [...lanes.startNext()];
  for (let start = inFlight.shift(); start !== undefined; start = inFlight.shift()) {
    lane.adjustCap({ kind: "success" }, 1);
    lanes.attemptEnded(lane);
    lanes.settled(start.delivery, lane, true);
    inFlight.push(...lanes.startNext());
    expect(inFlight.length).toBeLessThanOrEqual(5);
  }
  expect(lane.cap).toBe(5);
});

test("a new URL starts with the lower limit", () => {
  const lanes = createLanes();
  const lane = openLane(lanes, "1", "acme", burst);
  succeed(lanes, lane, 2_000);
  lanes.retarget(lane, { ...lane.target, version: 2, isActive: true });
  expect(lane.cap).toBe(50);
  lanes.retarget(lane, { ...lane.target, version: 3, url: "https://moved.example", health: null });
  expect(lane.cap).toBe(5);
});

test("a grown lane holds more rows in memory", () => {
  const lanes = createLanes();
  const lane = openLane(lanes, "1", "acme", burst);
  expect(lane.freeCapacity).toBe(50);
  succeed(lanes, lane, 2_000);
  expect(lane.freeCapacity).toBe(100);
});

test("grown lanes share slots evenly, and leave some to lanes that have not grown", () => {
  const lanes = createLanes();
  const grown = Array.from({ length: 10 }, (_, n) => openLane(lanes, String(n), `tenant ${n}`, burst));
  for (const lane of grown) succeed(lanes, lane, 2_000);
  expect(grown.map(({ cap }) => cap)).toEqual(Array(10).fill(50));
  for (const lane of grown) admitMany(lanes, lane, 100);
  // all of them hang
  lanes.startNext();
  expect(grown.map(({ inFlight }) => inFlight)).toEqual(Array(10).fill(28));
  const others = Array.from({ length: 30 }, (_, n) => openLane(lanes, `other ${n}`, "hub"));
  for (const lane of others) admitMany(lanes, lane, 10);
  expect(lanes.startNext()).toHaveLength(150);
});
