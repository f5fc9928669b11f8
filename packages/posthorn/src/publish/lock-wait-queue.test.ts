import { expect, test } from "vitest";
import { type Locking, LockWaitQueue } from "./lock-wait-queue.ts";

function entry(name: string, subject: string | null, key: string | null = null) {
  const event = { tenant: "t", subject, payload: Buffer.alloc(10) };
  return { name, event, key: key === null ? null : { key } } as unknown as Locking & {
    readonly name: string;
  };
}

type Entry = ReturnType<typeof entry>;
const names = (entries: readonly Entry[] | undefined) => entries?.map(({ name }) => name);

test("an entry that needs a lock of a queued entry waits until that one is done", () => {
  const queue = new LockWaitQueue<Entry>();
  queue.add(entry("1", "s", "k"));
  queue.add(entry("2", "s"));
  const mustWait = () =>
    [entry("a", "s"), entry("b", null, "k"), entry("c", "k", "s"), entry("d", null)].map((one) =>
      queue.mustWait(one),
    );
  expect(mustWait()).toEqual([true, true, false, false]);
  queue.next()?.end({ finished: 1, isSlow: false });
  expect(mustWait()).toEqual([true, false, false, false]);
  queue.next()?.end({ finished: 1, isSlow: false });
  expect(mustWait()).toEqual([false, false, false, false]);
  expect([queue.size, queue.bytes, queue.waitingCount]).toEqual([0, 0, 0]);
});

test("a queue that found a lock keeps its order and lets all other queues go first", () => {
  const queue = new LockWaitQueue<Entry>();
  for (const one of [entry("1", "s"), entry("2", "s"), entry("3", "t"), entry("4", "u")]) queue.add(one);
  queue.next()?.end({ finished: 0, isSlow: true });
  queue.add(entry("5", "s"));
  expect(names(queue.next()?.entries)).toEqual(["3"]);
  expect(names(queue.next()?.entries)).toEqual(["4"]);
  const slow = queue.next();
  expect([names(slow?.entries), slow?.isSlow]).toEqual([["1", "2", "5"], true]);
  slow?.end({ finished: 1, isSlow: false });
  const rest = queue.next();
  expect([names(rest?.entries), rest?.isSlow]).toEqual([["2", "5"], false]);
});
