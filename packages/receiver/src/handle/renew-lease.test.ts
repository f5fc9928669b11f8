import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { claimed, defaults, messageWith } from "../../../../tests/support/receiver/store-world.ts";
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
  const work = renewLeaseDuring(store, claim, defaults.leaseMs, (aborting) => {
    signal = aborting;
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

test("work that takes ten leases keeps its message", async () => {
  const { store, message, claim, work, end, renewals, isAborted } = await hold();
  await vi.advanceTimersByTimeAsync(10 * defaults.leaseMs);
  expect(renewals()).toBe(30);
  expect(isAborted()).toBe(false);
  expect((await store.claim(message, defaults)).kind).toBe("running");
  end();
  expect(await work).toBe("worked");
  expect(await store.complete(claim)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("a store that is unavailable for less than a lease does not lose the lease", async () => {
  const { failWith, isAborted, end, renewals } = await hold();
  failWith(new Error("connection refused"));
  await vi.advanceTimersByTimeAsync((defaults.leaseMs * 2) / 3);
  expect([renewals(), isAborted()]).toEqual([2, false]);
  failWith(null);
  await vi.advanceTimersByTimeAsync(defaults.leaseMs / 3 - 1);
  expect(isAborted()).toBe(false);
  end();
});

test("the work is aborted when its lease expires, even if a renewal hangs", async () => {
  const { memory, isAborted, end } = await hold();
  const never = new Promise<boolean>(() => {});
  vi.spyOn(memory, "renew").mockReturnValue(never);
  await vi.advanceTimersByTimeAsync(defaults.leaseMs - 1);
  expect(isAborted()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isAborted()).toBe(true);
  end();
});
