import { expect, test } from "vitest";
import { type Locking, LockWaitQueue } from "./lock-wait-queue.ts";

function entry(
  name: string,
  subject: string | null,
  key: string | null = null,
): Locking & { readonly name: string } {
  const event = {
    id: name,
    tenant: "t",
    type: "a",
    apiVersion: "1",
    subject,
    sequence: null,
    createdAt: new Date(0),
  };
  return {
    name,
    event: { ...event, payload: Buffer.alloc(10) },
    key: key === null ? null : { tenant: "t", key, eventId: name, digest: Buffer.alloc(0) },
  };
}

type Entry = ReturnType<typeof entry>;
const names = (entries: readonly Entry[] | undefined) => entries?.map(({ name }) => name);

test("events of one subject form one queue, in their order", () => {
  const aside = new LockWaitQueue<Entry>();
  for (const one of [entry("1", "s"), entry("2", "t"), entry("3", "s", "k"), entry("4", null, "k")])
    aside.add(one);
  expect([aside.next(), aside.next(), aside.next()].map((turn) => names(turn?.entries))).toEqual([
    ["1", "3"],
    ["2"],
    ["4"],
  ]);
  expect(aside.next()).toBeUndefined();
});

test("an entry that needs a lock of a queued entry must wait until that one is answered", () => {
  const aside = new LockWaitQueue<Entry>();
  aside.add(entry("1", "s", "k"));
  aside.add(entry("2", "s"));
  const concerned = () =>
    [entry("a", "s"), entry("b", null, "k"), entry("c", "k", "s"), entry("d", null)].map((one) =>
      aside.mustWait(one),
    );
  expect(concerned()).toEqual([true, true, false, false]);
  aside.next()?.end({ answered: 1, isSlow: false });
  expect(concerned()).toEqual([true, false, false, false]);
  aside.next()?.end({ answered: 1, isSlow: false });
  expect(concerned()).toEqual([false, false, false, false]);
  expect([aside.size, aside.bytes, aside.waitingCount]).toEqual([0, 0, 0]);
});

test("a queue that met a lock keeps its order and lets every other queue go first", () => {
  const aside = new LockWaitQueue<Entry>();
  for (const one of [entry("1", "s"), entry("2", "s"), entry("3", "t"), entry("4", "u")]) aside.add(one);
  aside.next()?.end({ answered: 0, isSlow: true });
  aside.add(entry("5", "s"));
  expect(names(aside.next()?.entries)).toEqual(["3"]);
  expect(names(aside.next()?.entries)).toEqual(["4"]);
  const slow = aside.next();
  expect([names(slow?.entries), slow?.isSlow]).toEqual([["1", "2", "5"], true]);
  slow?.end({ answered: 1, isSlow: false });
  const rest = aside.next();
  expect([names(rest?.entries), rest?.isSlow]).toEqual([["2", "5"], false]);
});

test("a queue that is being written may grow, and has no second turn meanwhile", () => {
  const aside = new LockWaitQueue<Entry>();
  aside.add(entry("1", "s"));
  const turn = aside.next();
  aside.add(entry("2", "s"));
  expect(aside.next()).toBeUndefined();
  expect(aside.size).toBe(2);
  turn?.end({ answered: 1, isSlow: false });
  expect(names(aside.next()?.entries)).toEqual(["2"]);
});
