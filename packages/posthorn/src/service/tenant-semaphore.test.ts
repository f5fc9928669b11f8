import { expect, test } from "vitest";
import { FairQueue, TenantShares } from "./fair-share.ts";
import { TenantSemaphore } from "./tenant-semaphore.ts";

type Named = ReturnType<typeof item>;
const item = (tenant: string, name = tenant) => ({ tenant, name });
const anyTenant = { mayTake: () => true };
const notA = { mayTake: (tenant: string | null) => tenant !== "a" };

test("tenants take turns, and so do the items of a tenant", () => {
  const line = new FairQueue<Named>();
  for (let i = 0; i < 1_000; i += 1) line.add(item("crowd", `crowd ${i}`));
  line.add(item("single"));
  const order = Array.from({ length: 4 }, () => line.shift(anyTenant)?.name);
  expect(order).toEqual(["crowd 0", "single", "crowd 1", "crowd 2"]);
  expect(line.size).toBe(997);
});

test("an item that is added again comes after the others of its tenant", () => {
  const line = new FairQueue<Named>();
  const [a, b] = [item("one", "a"), item("one", "b")];
  line.add(a);
  line.add(b);
  line.add(a);
  expect(line.shift(anyTenant)).toBe(a);
  line.add(a);
  expect(line.shift(anyTenant)).toBe(b);
  expect(line.shift(anyTenant)).toBe(a);
  expect(line.shift(anyTenant)).toBeUndefined();
});

test("a tenant that is not eligible is skipped and keeps its position", () => {
  const line = new FairQueue<Named>();
  const [a, b] = [item("a"), item("b")];
  line.add(a);
  line.add(b);
  expect(line.shift(notA)).toBe(b);
  expect(line.shift(notA)).toBeUndefined();
  expect(line.size).toBe(1);
  line.delete(a);
  expect(line.size).toBe(0);
});

/** Takes as much as the tenant may, and returns how much that is. */
function fill(shares: TenantShares, tenant: string): number {
  const before = shares.total;
  while (shares.mayTake(tenant)) shares.take(tenant, 1);
  return shares.total - before;
}

test("one tenant alone gets four fifths, and another always gets capacity", () => {
  const shares = new TenantShares(500);
  expect(["first", "second", "third"].map((tenant) => fill(shares, tenant))).toEqual([400, 80, 16]);
  expect(fill(shares, "fourth")).toBeGreaterThan(0);
  shares.release("first", 300);
  expect(shares.mayTake("fourth")).toBe(true);
  expect(shares.total).toBeLessThan(205);
});

test("an exceeded capacity leaves a bounded reserve for tenants that hold nothing", () => {
  const shares = new TenantShares(100, 50);
  shares.take("large", 120);
  expect(shares.mayTake("large")).toBe(false);
  expect(shares.mayTake("small")).toBe(true);
  shares.take("small", 1);
  expect(shares.mayTake("small")).toBe(false);
  shares.take("other", 29);
  expect(shares.mayTake("newcomer")).toBe(false);
});

test.each([
  [1, 1],
  [2, 1],
  [4, 3],
  [7, 6],
])("of %i slots a tenant gets %i, and the last is for another tenant", (capacity, expected) => {
  const shares = new TenantShares(capacity);
  expect(fill(shares, "first")).toBe(expected);
  expect(shares.mayTake("second")).toBe(capacity > 1);
});

/** Work that the test completes. */
function heldWork(semaphore: TenantSemaphore) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const { signal } = new AbortController();
  return {
    started,
    ask: (tenant: string, name: string, until: AbortSignal = signal) =>
      semaphore.run(tenant, until, () => {
        started.push(name);
        return new Promise<void>((end) => ends.set(name, end));
      }),
    end: async (name: string) => {
      await new Promise(setImmediate);
      ends.get(name)?.();
      await new Promise(setImmediate);
    },
  };
}

test("a tenant that requests more than the capacity leaves a slot for another, which starts at once", async () => {
  const work = heldWork(new TenantSemaphore(5));
  for (let n = 0; n < 1_000; n += 1) void work.ask("crowd", `crowd ${n}`);
  void work.ask("single", "single");
  await new Promise(setImmediate);
  expect(work.started).toEqual(["crowd 0", "crowd 1", "crowd 2", "crowd 3", "single"]);
});

test("aborted work is not started and uses no turn", async () => {
  const work = heldWork(new TenantSemaphore(1));
  const stop = new AbortController();
  void work.ask("a", "first");
  const aborted = work.ask("a", "aborted", stop.signal);
  void work.ask("a", "last");
  stop.abort(new Error("aborted"));
  const refused = expect(aborted).rejects.toThrow("aborted");
  await work.end("first");
  await refused;
  expect(work.started).toEqual(["first", "last"]);
});

test("failed work frees its capacity", async () => {
  const semaphore = new TenantSemaphore(1);
  const { signal } = new AbortController();
  await expect(semaphore.run("a", signal, () => Promise.reject(new Error("failed")))).rejects.toThrow(
    "failed",
  );
  expect(await semaphore.run("a", signal, async () => "next")).toBe("next");
});
