// The worker of the inbox: when it looks, how much it takes, how it ends.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NOW, secret, signedDelivery } from "../../../../tests/support/receiver/signed-delivery.ts";
import {
  claimed,
  messageWith,
  terms,
  times,
  WINDOW_MS,
} from "../../../../tests/support/receiver/store-world.ts";
import { watchStore } from "../../../../tests/support/receiver/watch-store.ts";
import type { FailureInfo } from "../hooks/hooks.ts";
import type { ReceiverOptions } from "../options.ts";
import { createReceiver } from "../receiver.ts";
import { standardWebhooks } from "../sources/standard-webhooks.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE_MS = 60_000;

function open(options: Partial<ReceiverOptions<never, Record<string, never>>> = {}) {
  const memory = memoryStore();
  const watched = watchStore(memory);
  const failures: FailureInfo[] = [];
  const receiver = createReceiver({
    sources: [standardWebhooks({ secrets: [secret] })],
    store: watched.store,
    mode: "inbox",
    clock: () => NOW,
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  const takes = () => watched.calls.filter((name) => name === "claimDue").length;
  return { receiver, memory, failures, takes, failWith: watched.failWith, calls: watched.calls };
}

/** Handlers that wait until they are let go, and the ids of those that wait. */
function holding(receiver: ReturnType<typeof open>["receiver"]) {
  const held = new Map<string, () => void>();
  receiver.fallback(({ id }) => new Promise<void>((resolve) => held.set(id, resolve)));
  return held;
}

const turn = () => vi.advanceTimersByTimeAsync(0);

test("what this process accepts is worked on at once, without waiting for the next look", async () => {
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

test("what other processes accept is found at the next look", async () => {
  const { receiver, memory } = open({ inbox: { pollMs: 1_000 } });
  const held = holding(receiver);
  await receiver.start();
  await turn();
  const message = messageWith({ source: "standard-webhooks" });
  await memory.accept(message, terms);
  await vi.advanceTimersByTimeAsync(700);
  expect(held.size).toBe(0);
  await vi.advanceTimersByTimeAsync(600);
  expect([...held.keys()]).toEqual([message.id]);
  held.get(message.id)?.();
  await receiver.stop();
});

test("no more at once than it may, and the next as soon as one is done", async () => {
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

test("it stops twice, before it was started, and only once started at all", async () => {
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
  expect(twice.takes()).toBe(1);
  await Promise.all([twice.receiver.stop(), twice.receiver.stop()]);
  expect(vi.getTimerCount()).toBe(0);
});

test("stopping waits for what is in hand and takes nothing more", async () => {
  const { receiver, memory } = open({ inbox: { concurrency: 1 } });
  const held = holding(receiver);
  await receiver.start();
  await receiver.receive(await signedDelivery({ id: "msg_1" }));
  await receiver.receive(await signedDelivery({ id: "msg_2" }));
  await turn();
  let isStopped = false;
  const stopped = receiver.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(9 * MINUTE_MS);
  expect([isStopped, [...held.keys()]]).toEqual([false, ["msg_1"]]);
  held.get("msg_1")?.();
  await stopped;
  expect((await memory.claimDue(10, terms)).map(({ message }) => message.id)).toEqual(["msg_2"]);
});

test("a store that is away is asked less and less often, told each time, and worked with when it is back", async () => {
  const { receiver, failures, takes, calls, failWith } = open({ inbox: { pollMs: 1_000 } });
  const held = holding(receiver);
  failWith(new Error("connection refused"));
  await receiver.start();
  await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
  expect(takes()).toBeGreaterThan(15);
  expect(takes()).toBeLessThan(40);
  expect(failures).toHaveLength(takes() + calls.filter((name) => name === "prune").length);
  expect(failures[0]).toMatchObject({ message: null, error: { message: "connection refused" }, tries: 0 });
  failWith(null);
  await receiver.receive(await signedDelivery({ id: "msg_1" }));
  await turn();
  expect(held.size).toBe(1);
  held.get("msg_1")?.();
  await receiver.stop();
});

test("a failure is tried again after a while that grows, and the tenth is a dead letter", async () => {
  const calls: number[] = [];
  const { receiver } = open();
  receiver.fallback((_, { tries }) => {
    calls.push(tries);
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

test("a store that fails at a second try is told as the store's failure, which is no try", async () => {
  const { receiver, failures, failWith } = open({ retries: { firstDelayMs: 1, maxDelayMs: 1 } });
  const away = new Error("connection refused");
  receiver.fallback((_, { tries }) => {
    if (tries === 0) throw new Error("not yet");
    failWith(away, ["complete"]);
  });
  await receiver.start();
  await receiver.receive(await signedDelivery());
  await vi.advanceTimersByTimeAsync(2_000);
  expect(failures).toMatchObject([{ tries: 1 }, { tries: 0, error: away }]);
  await receiver.stop();
});

test("what kills its process every time is a dead letter in the end, without being tried again", async () => {
  const { receiver, memory } = open({ deadLetters: { afterTries: 3 } });
  const held = holding(receiver);
  const message = messageWith({ source: "standard-webhooks" });
  for (let crash = 0; crash < 3; crash++) {
    await claimed(memory, message);
    await vi.advanceTimersByTimeAsync(terms.leaseMs + 1);
  }
  await receiver.start();
  await turn();
  expect(held.size).toBe(0);
  expect(await receiver.deadLetters.list()).toMatchObject([
    { error: expect.stringContaining("its lease expired") },
  ]);
  await receiver.stop();
});

test("a message that no source knows any more is a dead letter with that reason", async () => {
  const { receiver, memory } = open();
  await memory.accept(messageWith({ source: "gone" }), terms);
  await receiver.start();
  await turn();
  expect(await receiver.deadLetters.list()).toMatchObject([
    { error: expect.stringContaining('source "gone"') },
  ]);
  await receiver.stop();
});

test("now and then it forgets what is past the window, in every mode", async () => {
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

test("the inbox is worked on while it forgets, and stopping waits for the step in hand alone", async () => {
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
  let isStopped = false;
  const stopped = receiver.stop().then(() => {
    isStopped = true;
  });
  await turn();
  expect(isStopped).toBe(false);
  steps[0]?.(1_000);
  await stopped;
  expect(calls.filter((name) => name === "prune")).toHaveLength(1);
});

test("prune() forgets the same when it is called, however much it is", async () => {
  const { receiver, memory } = open();
  for (const message of times(1_001, () => messageWith())) {
    await memory.complete(await claimed(memory, message));
  }
  expect(await receiver.prune()).toBe(0);
  vi.setSystemTime(Date.now() + WINDOW_MS);
  expect(await receiver.prune()).toBe(1_001);
});

test("a handler that hangs gives its place back, and holds up neither the others nor the end", async () => {
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

test("a store that hangs does not hold up the end for ever", async () => {
  const { receiver, memory, failures } = open({ handlerTimeoutMs: 5_000 });
  vi.spyOn(memory, "claimDue").mockReturnValue(new Promise(() => {}));
  await receiver.start();
  let isStopped = false;
  const stopped = receiver.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(14_999);
  expect(isStopped).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
  expect(failures).toMatchObject([
    { message: null, error: { message: expect.stringContaining("did not respond") } },
  ]);
});

test("nor does it for a delivery, for which stopping waits otherwise", async () => {
  const { receiver, memory, failures } = open({ mode: "lease", handlerTimeoutMs: 5_000 });
  vi.spyOn(memory, "complete").mockReturnValue(new Promise(() => {}));
  receiver.fallback(() => {});
  void receiver.receive(await signedDelivery());
  await turn();
  let isStopped = false;
  const stopped = receiver.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(14_999);
  expect(isStopped).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
  expect(failures).toMatchObject([
    { message: null, error: { message: expect.stringContaining("did not respond") } },
  ]);
});
