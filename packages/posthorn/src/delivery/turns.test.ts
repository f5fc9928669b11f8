// Whose turn it is and how fast: the parts that need no database.
import { expect, onTestFinished, test, vi } from "vitest";
import type { ClaimedDelivery, Target } from "../model.ts";
import { HEALTHY } from "../settle/endpoint-health.ts";
import { FailureWindow } from "../settle/failure-window.ts";
import type { Lane } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import { RateBucket } from "./rate-bucket.ts";

test("with more lanes than one fetch serves, each has its turn in the next fetch at the latest", () => {
  const lanes = new Lanes({
    concurrency: 500,
    nowMs: () => 0,
    attempt: async () => {},
    mayStart: () => false,
    mayAcquireLanes: () => true,
    onFetchNeeded: () => {},
    onBlocked: () => {},
    onHealthChanged: () => {},
  });
  for (let n = 0; n < 61; n += 1) {
    const target = { endpointId: String(n), tenant: "acme", maxInFlight: 5, rateLimit: null };
    lanes.markDue(lanes.open(target as unknown as Target, HEALTHY));
  }
  const seen = new Set<string>();
  for (let turn = 0; turn < 2; turn += 1) {
    for (const { endpointId } of lanes.nextToFetch(60)) seen.add(endpointId);
    expect(lanes.hasLanesToFetch).toBe(true);
  }
  expect(seen.size).toBe(61);
});

/** Lanes that may start anything, with as many open for a tenant as are asked for. */
function lanesOf(tenant: string, count: number, attempt: (delivery: ClaimedDelivery) => Promise<void>) {
  const lanes = new Lanes({
    concurrency: 500,
    nowMs: () => 0,
    attempt,
    mayStart: () => true,
    mayAcquireLanes: () => true,
    onFetchNeeded: () => {},
    onBlocked: () => {},
    onHealthChanged: () => {},
  });
  const open = (endpointId: string, of: string) =>
    lanes.open(
      {
        endpointId,
        tenant: of,
        maxInFlight: 5,
        rateLimit: null,
        allowedPerMinute: null,
      } as unknown as Target,
      HEALTHY,
    );
  return { lanes, open, opened: Array.from({ length: count }, (_, n) => open(String(n), tenant)) };
}

const MEGABYTE = 1024 * 1024;
const deliveryOf = (id: string, payload: Uint8Array) => ({ id, event: { payload } }) as ClaimedDelivery;

test("a shared payload counts once in the memory budget; unshared payloads fill it at 64 MB", () => {
  const { lanes, open, opened } = lanesOf("hub", 300, async () => {});
  const payload = Buffer.alloc(MEGABYTE);
  const shared = opened.map((lane, n) => [deliveryOf(`s${n}`, payload), lane] as const);
  for (const [delivery, lane] of shared) lanes.admit(delivery, lane);
  expect(lanes.hasCapacity).toBe(true);
  const other = open("other", "acme");
  lanes.markDue(other);
  expect(lanes.nextToFetch(10)).toEqual([other]);
  // let go by all but one, it is still there
  for (const [delivery, lane] of shared.slice(1)) lanes.settled(delivery, lane);
  const own = Array.from({ length: 63 }, (_, n) => deliveryOf(`o${n}`, Buffer.alloc(MEGABYTE)));
  const [first] = opened as [Lane];
  for (const delivery of own.slice(1)) lanes.admit(delivery, first);
  expect(lanes.hasCapacity).toBe(true);
  lanes.admit(own[0] as ClaimedDelivery, first);
  expect(lanes.hasCapacity).toBe(false);
  lanes.settled(...(shared[0] as (typeof shared)[0]));
  expect(lanes.hasCapacity).toBe(true);
});

test("large deliveries are started four megabytes at a time, so that other work is not delayed", async () => {
  const started: string[] = [];
  const { lanes, opened } = lanesOf("hub", 12, async ({ id }) => void started.push(id));
  const payload = Buffer.alloc(MEGABYTE);
  for (const [n, lane] of opened.entries()) lanes.admit(deliveryOf(String(n), payload), lane);
  lanes.pump();
  // asked again in the same moment, it does no more
  lanes.pump();
  expect(started).toHaveLength(5);
  await new Promise(setImmediate);
  expect(started).toHaveLength(10);
  await new Promise(setImmediate);
  expect(started).toHaveLength(12);
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

test("an allowed rate holds in every minute, across changes of the owner", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: 0 });
  const clock = vi.spyOn(performance, "now").mockImplementation(() => Date.now());
  onTestFinished(() => {
    clock.mockRestore();
    vi.useRealTimers();
  });
  const allowedPerMinute = 30;
  const startedAt: number[] = [];
  const target = { endpointId: "e", tenant: "acme", maxInFlight: 5, rateLimit: null, allowedPerMinute };
  const delivery = (n: number) => ({ id: String(n), event: { payload: Buffer.alloc(1) } });
  const worker = () =>
    new Lanes({
      concurrency: 500,
      nowMs: () => 0,
      attempt: async () => void startedAt.push(performance.now()),
      mayStart: () => true,
      mayAcquireLanes: () => true,
      onFetchNeeded: () => {},
      onBlocked: () => {},
      onHealthChanged: () => {},
    });
  const workers = [worker(), worker(), worker()] as const;
  for (let turn = 0; turn < 12; turn += 1) {
    const lanes = workers[turn % 3] as Lanes;
    const lane = lanes.open(target as unknown as Target, HEALTHY);
    for (let n = 0; n < 100; n += 1)
      lanes.admit(delivery(turn * 100 + n) as unknown as ClaimedDelivery, lane);
    lanes.pump();
    await vi.advanceTimersByTimeAsync(17_300);
    // its settings are read again, which must not fill the bucket
    lanes.retarget(lane, { ...target, version: turn, isActive: true } as unknown as Target);
    await vi.advanceTimersByTimeAsync(5_000);
    lanes.close(lane);
  }
  const inMinuteFrom = (from: number) => startedAt.filter((at) => at >= from && at < from + 60_000).length;
  expect(Math.max(...startedAt.map(inMinuteFrom))).toBeLessThanOrEqual(allowedPerMinute);
  expect(startedAt.length).toBeGreaterThan(100);
});

test("a failure window needs twenty attempts, and drops those older than a minute", () => {
  const window = new FailureWindow();
  for (let i = 0; i < 19; i += 1) window.note(true, 0);
  expect(window.failedPercent(0)).toBe(0);
  window.note(false, 0);
  expect(window.failedPercent(0)).toBe(95);
  for (let i = 0; i < 20; i += 1) window.note(false, 30_000);
  expect(window.failedPercent(30_000)).toBe(47.5);
  expect(window.failedPercent(60_000)).toBe(0);
  expect(window.failedPercent(200_000)).toBe(0);
});
