// Whose turn it is and how much each may take: the parts that need no database.
import { expect, test } from "vitest";
import type { Target } from "../model.ts";
import { WELL } from "../settle/endpoint-health.ts";
import { FailureWindow } from "../settle/failure-window.ts";
import { FairLine } from "./fair-line.ts";
import type { Lane } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import { RateBucket } from "./rate-bucket.ts";
import { TenantShares } from "./tenant-shares.ts";

const lane = (tenant: string, name = tenant) =>
  ({ name, target: { tenant } }) as unknown as Lane & { name: string };
const anybody = () => true;

test("tenants take turns, and so do the lanes of a tenant", () => {
  const line = new FairLine();
  for (let i = 0; i < 1_000; i += 1) line.add(lane("crowd", `crowd ${i}`));
  line.add(lane("single"));
  const order = Array.from({ length: 4 }, () => (line.shift(anybody) as unknown as { name: string }).name);
  expect(order).toEqual(["crowd 0", "single", "crowd 1", "crowd 2"]);
  expect(line.size).toBe(997);
});

test("a lane that comes back stands behind the others of its tenant", () => {
  const line = new FairLine();
  const [a, b] = [lane("one", "a"), lane("one", "b")];
  line.add(a);
  line.add(b);
  line.add(a);
  expect(line.shift(anybody)).toBe(a);
  line.add(a);
  expect(line.shift(anybody)).toBe(b);
  expect(line.shift(anybody)).toBe(a);
  expect(line.shift(anybody)).toBeUndefined();
});

test("a tenant that may not have a turn is passed over and keeps its place", () => {
  const line = new FairLine();
  const [a, b] = [lane("a"), lane("b")];
  line.add(a);
  line.add(b);
  expect(line.shift((tenant) => tenant !== "a")).toBe(b);
  expect(line.shift((tenant) => tenant !== "a")).toBeUndefined();
  expect(line.has(a)).toBe(true);
  line.delete(a);
  expect(line.size).toBe(0);
});

test("of one lane more than a fetch takes, each has its turn in the next fetch at the latest", () => {
  const lanes = new Lanes({
    concurrency: 500,
    nowMs: () => 0,
    attempt: async () => {},
    mayStart: () => false,
    mayTakeLanes: () => true,
    onHungry: () => {},
    onBlocked: () => {},
    onHealthChanged: () => {},
  });
  for (let n = 0; n < 61; n += 1) {
    const target = { endpointId: String(n), tenant: "acme", maxInFlight: 5, rateLimit: null };
    lanes.markOwed(lanes.open(target as unknown as Target, WELL));
  }
  const seen = new Set<string>();
  for (let turn = 0; turn < 2; turn += 1) {
    for (const { endpointId } of lanes.nextHungry(60)) seen.add(endpointId);
    expect(lanes.hasHungry).toBe(true);
  }
  expect(seen.size).toBe(61);
});

test("one tenant alone gets four fifths, and the next one always finds a place", () => {
  const shares = new TenantShares(500);
  const fill = (tenant: string) => {
    let taken = 0;
    while (shares.mayTake(tenant)) {
      shares.take(tenant, 1);
      taken += 1;
    }
    return taken;
  };
  expect(fill("first")).toBe(400);
  expect(fill("second")).toBe(80);
  expect(fill("third")).toBe(16);
  expect(fill("fourth")).toBeGreaterThan(0);
  shares.giveBack("first", 300);
  expect(shares.mayTake("fourth")).toBe(true);
  expect(shares.total).toBeLessThan(205);
});

test("what is overdrawn leaves something for those that hold nothing, and not without end", () => {
  const shares = new TenantShares(100, 50);
  shares.take("large", 120);
  expect(shares.mayTake("large")).toBe(false);
  expect(shares.mayTake("small")).toBe(true);
  shares.take("small", 1);
  expect(shares.mayTake("small")).toBe(false);
  shares.take("other", 29);
  expect(shares.mayTake("newcomer")).toBe(false);
});

test("a worker with one place gives it to whoever comes", () => {
  const shares = new TenantShares(1);
  expect(shares.mayTake("a")).toBe(true);
  shares.take("a", 1);
  expect(shares.mayTake("b")).toBe(false);
  expect(shares.isFull).toBe(true);
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

test("a window tells nothing before twenty attempts, and forgets what is older than a minute", () => {
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
