// A lease is renewed while work goes on; work that lost it is told.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { claimed, messageWith, terms } from "../../../../tests/support/receiver/store-world.ts";
import { watchStore } from "../../../../tests/support/receiver/watch-store.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";
import { renewLeaseDuring } from "./renew-lease.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function hold() {
  const memory = memoryStore();
  const { store, calls, failWith } = watchStore(memory);
  const message = messageWith();
  const claim = await claimed(store, message);
  let end = () => {};
  let signal: AbortSignal | undefined;
  const work = renewLeaseDuring(store, claim, terms.leaseMs, (given) => {
    signal = given;
    return new Promise<string>((resolve) => {
      end = () => resolve("worked");
    });
  });
  const renewals = () => calls.filter((name) => name === "renew").length;
  return {
    memory,
    store,
    message,
    claim,
    work,
    failWith,
    renewals,
    end: () => end(),
    isAborted: () => signal?.aborted,
  };
}

test("work of ten leases keeps its message", async () => {
  const { store, message, claim, work, end, renewals, isAborted } = await hold();
  await vi.advanceTimersByTimeAsync(10 * terms.leaseMs);
  expect(renewals()).toBe(30);
  expect(isAborted()).toBe(false);
  expect((await store.claim(message, terms)).kind).toBe("running");
  end();
  expect(await work).toBe("worked");
  expect(await store.complete(claim)).toBe(true);
});

test("after the work nothing is renewed", async () => {
  const { work, end, renewals } = await hold();
  end();
  await work;
  await vi.advanceTimersByTimeAsync(10 * terms.leaseMs);
  expect(renewals()).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("work whose lease somebody else has is told at the next renewal", async () => {
  const { store, message, isAborted, end } = await hold();
  vi.setSystemTime(Date.now() + terms.leaseMs);
  expect((await store.claim(message, terms)).kind).toBe("claimed");
  await vi.advanceTimersByTimeAsync(terms.leaseMs / 3);
  expect(isAborted()).toBe(true);
  end();
});

test("a store that is away for less than a lease costs nothing", async () => {
  const { failWith, isAborted, end, renewals } = await hold();
  failWith(new Error("connection refused"));
  await vi.advanceTimersByTimeAsync((terms.leaseMs * 2) / 3);
  expect([renewals(), isAborted()]).toEqual([2, false]);
  failWith(null);
  await vi.advanceTimersByTimeAsync(terms.leaseMs / 3 - 1);
  expect(isAborted()).toBe(false);
  end();
});

test("a store that is away for a lease costs the lease", async () => {
  const { failWith, isAborted, end } = await hold();
  failWith(new Error("connection refused"));
  await vi.advanceTimersByTimeAsync(terms.leaseMs);
  expect(isAborted()).toBe(true);
  end();
});

test("a renewal that hangs does not keep from the work that its lease is over", async () => {
  const { memory, isAborted, end } = await hold();
  const never = new Promise<boolean>(() => {});
  vi.spyOn(memory, "renew").mockReturnValue(never);
  await vi.advanceTimersByTimeAsync(terms.leaseMs - 1);
  expect(isAborted()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isAborted()).toBe(true);
  end();
});
