import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openReceiver } from "../../../../tests/support/receiver/open-receiver.ts";
import { signedDelivery } from "../../../../tests/support/receiver/signed-delivery.ts";
import {
  claimed,
  defaults,
  messageWith,
  times,
  WINDOW_MS,
} from "../../../../tests/support/receiver/store-world.ts";
import { watchStore } from "../../../../tests/support/receiver/watch-store.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE_MS = 60_000;

function open(options: Parameters<typeof openReceiver>[0] = {}) {
  const memory = memoryStore();
  const { store, calls, failWith } = watchStore(memory);
  const { receiver, failures } = openReceiver({ store, mode: "inbox", ...options });
  const polls = () => calls.filter((name) => name === "claimDue").length;
  return { receiver, memory, failures, polls, failWith, calls };
}

/** Handlers that wait to be resolved, by the ids of their events. */
function holding(receiver: ReturnType<typeof open>["receiver"]) {
  const held = new Map<string, () => void>();
  receiver.fallback(({ id }) => new Promise<void>((resolve) => held.set(id, resolve)));
  return held;
}

function stop(receiver: ReturnType<typeof open>["receiver"]) {
  let isStopped = false;
  const done = receiver.stop().then(() => {
    isStopped = true;
  });
  return { done, isStopped: () => isStopped };
}

const turn = () => vi.advanceTimersByTimeAsync(0);

test("a message that this process accepts is handled without waiting for the next poll", async () => {
  const { receiver } = open({ inbox: { pollMs: 60_000 } });
  const held = holding(receiver);
  await receiver.start();
  await turn();
  await receiver.receive(await signedDelivery({ id: "msg_1" }));
  await turn();
  expect([...held.keys()]).toEqual(["msg_1"]);
  held.get("msg_1")?.();
  await receiver.stop();
});

test("messages of other processes are found at the next poll", async () => {
  const { receiver, memory } = open({ inbox: { pollMs: 1_000 } });
  const held = holding(receiver);
  await receiver.start();
  await turn();
  const message = messageWith({ source: "standard-webhooks" });
  await memory.accept(message, defaults);
  await vi.advanceTimersByTimeAsync(700);
  expect(held.size).toBe(0);
  await vi.advanceTimersByTimeAsync(600);
  expect([...held.keys()]).toEqual([message.id]);
  held.get(message.id)?.();
  await receiver.stop();
});

test("at most `concurrency` messages are handled at once, and the next one as soon as one is done", async () => {
  const { receiver } = open({ inbox: { concurrency: 2, pollMs: 60_000 } });
  const held = holding(receiver);
  await receiver.start();
  for (const index of times(5, (n) => n))
    await receiver.receive(await signedDelivery({ id: `msg_${index}` }));
  for (const count of [2, 3, 4, 5]) {
    await turn();
    expect(held.size).toBe(count);
    [...held.values()][count - 2]?.();
  }
  [...held.values()].at(-1)?.();
  await receiver.stop();
  expect(held.size).toBe(5);
});

test("stop() may be called twice and before start(), and a stopped receiver cannot be started", async () => {
  const never = open().receiver;
  await never.stop();
  await never.stop();
  await expect(never.start()).rejects.toThrow("cannot be started again");
  await turn();
  expect(vi.getTimerCount()).toBe(0);

  const twice = open();
  await twice.receiver.start();
  await twice.receiver.start();
  await turn();
  expect(twice.polls()).toBe(1);
  await Promise.all([twice.receiver.stop(), twice.receiver.stop()]);
  expect(vi.getTimerCount()).toBe(0);
});

test("stop() waits for the work in flight and claims nothing more", async () => {
  const { receiver, memory } = open({ inbox: { concurrency: 1 } });
  const held = holding(receiver);
  await receiver.start();
  await receiver.receive(await signedDelivery({ id: "msg_1" }));
  await receiver.receive(await signedDelivery({ id: "msg_2" }));
  await turn();
  const stopping = stop(receiver);
  await vi.advanceTimersByTimeAsync(9 * MINUTE_MS);
  expect([stopping.isStopped(), [...held.keys()]]).toEqual([false, ["msg_1"]]);
  held.get("msg_1")?.();
  await stopping.done;
  expect((await memory.claimDue(10, defaults)).map(({ message }) => message.id)).toEqual(["msg_2"]);
});

test("an unavailable store is polled less and less often, each failure is reported, and work continues when it is back", async () => {
  const { receiver, failures, polls, calls, failWith } = open({ inbox: { pollMs: 1_000 } });
  const held = holding(receiver);
  failWith(new Error("connection refused"));
  await receiver.start();
  await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
  expect(polls()).toBeGreaterThan(15);
  expect(polls()).toBeLessThan(40);
  expect(failures).toHaveLength(polls() + calls.filter((name) => name === "prune").length);
  expect(failures[0]).toMatchObject({ message: null, error: { message: "connection refused" }, failures: 0 });
  failWith(null);
  await receiver.receive(await signedDelivery({ id: "msg_1" }));
  await turn();
  expect(held.size).toBe(1);
  held.get("msg_1")?.();
  await receiver.stop();
});

test("a failed message is retried with growing delays and is a dead letter after ten failures", async () => {
  const calls: number[] = [];
  const { receiver } = open();
  receiver.fallback((_, { failures }) => {
    calls.push(failures);
    throw new Error("shop closed");
  });
  await receiver.start();
  await receiver.receive(await signedDelivery());
  await vi.advanceTimersByTimeAsync(3_000);
  expect(calls.length).toBeGreaterThanOrEqual(2);
  expect(calls.length).toBeLessThan(5);
  await vi.advanceTimersByTimeAsync(60 * MINUTE_MS);
  expect(calls).toEqual(times(10, (n) => n));
  expect(await receiver.deadLetters.count()).toBe(1);
  await receiver.stop();
});

test("a message that kills its process each time becomes a dead letter without another attempt", async () => {
  const { receiver, memory } = open({ deadLetters: { afterFailures: 3 } });
  const held = holding(receiver);
  const message = messageWith({ source: "standard-webhooks" });
  for (let crash = 0; crash < 3; crash++) {
    await claimed(memory, message);
    await vi.advanceTimersByTimeAsync(defaults.leaseMs + 1);
  }
  await receiver.start();
  await turn();
  expect(held.size).toBe(0);
  expect(await receiver.deadLetters.list()).toMatchObject([
    { error: expect.stringContaining("its lease expired") },
  ]);
  await receiver.stop();
});

test("a message of a source that no longer exists is a dead letter with that reason", async () => {
  const { receiver, memory } = open();
  await memory.accept(messageWith({ source: "gone" }), defaults);
  await receiver.start();
  await turn();
  expect(await receiver.deadLetters.list()).toMatchObject([
    { error: expect.stringContaining('source "gone"') },
  ]);
  await receiver.stop();
});

test("expired messages are pruned periodically, in every mode", async () => {
  for (const mode of ["inbox", "lease"] as const) {
    const { receiver, memory } = open({ mode });
    for (const message of times(3, () => messageWith()))
      await memory.complete(await claimed(memory, message));
    await receiver.start();
    await vi.advanceTimersByTimeAsync(20 * MINUTE_MS);
    expect(memory.size).toBe(3);
    vi.setSystemTime(Date.now() + WINDOW_MS);
    await vi.advanceTimersByTimeAsync(20 * MINUTE_MS);
    expect(memory.size).toBe(0);
    await receiver.stop();
  }
});

test("the inbox is processed during a prune, and stop() waits only for the current step", async () => {
  const { receiver, memory, calls } = open();
  const steps: ((forgotten: number) => void)[] = [];
  vi.spyOn(memory, "prune").mockImplementation(() => new Promise((resolve) => steps.push(resolve)));
  const handled: string[] = [];
  receiver.fallback(({ id }) => void handled.push(id));
  await receiver.start();
  await vi.advanceTimersByTimeAsync(20 * MINUTE_MS);
  expect(steps).toHaveLength(1);
  await receiver.receive(await signedDelivery({ id: "msg_1" }));
  await turn();
  expect(handled).toEqual(["msg_1"]);
  const stopping = stop(receiver);
  await turn();
  expect(stopping.isStopped()).toBe(false);
  steps[0]?.(1_000);
  await stopping.done;
  expect(calls.filter((name) => name === "prune")).toHaveLength(1);
});

test("prune() deletes all expired messages", async () => {
  const { receiver, memory } = open();
  for (const message of times(1_001, () => messageWith())) {
    await memory.complete(await claimed(memory, message));
  }
  expect(await receiver.prune()).toBe(0);
  vi.setSystemTime(Date.now() + WINDOW_MS);
  expect(await receiver.prune()).toBe(1_001);
});

test("a handler that hangs frees its slot, and delays neither other messages nor stop()", async () => {
  const { receiver, failures } = open({
    handlerTimeoutMs: 5_000,
    inbox: { concurrency: 1 },
    leaseMs: 60_000,
  });
  const handled: string[] = [];
  receiver.fallback(({ id }) => (id === "msg_1" ? new Promise(() => {}) : void handled.push(id)));
  await receiver.start();
  for (const id of ["msg_1", "msg_2"]) await receiver.receive(await signedDelivery({ id }));
  await vi.advanceTimersByTimeAsync(4_999);
  expect(handled).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect([handled, failures]).toMatchObject([["msg_2"], [{ error: { name: "HandlerTimeout" } }]]);
  await receiver.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ["the inbox", "inbox", "claimDue"],
  ["a delivery", "lease", "complete"],
] as const)("stop() does not wait for ever for a store that hangs during %s", async (_, mode, method) => {
  const { receiver, memory, failures } = open({ mode, handlerTimeoutMs: 5_000 });
  vi.spyOn(memory, method).mockReturnValue(new Promise<never>(() => {}));
  receiver.fallback(() => {});
  if (mode === "inbox") await receiver.start();
  else void receiver.receive(await signedDelivery());
  await turn();
  const stopping = stop(receiver);
  await vi.advanceTimersByTimeAsync(14_999);
  expect(stopping.isStopped()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await stopping.done;
  expect(failures).toMatchObject([
    { message: null, error: { message: expect.stringContaining("did not respond") } },
  ]);
});
