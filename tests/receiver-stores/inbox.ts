// Accepted messages are stored once, claimed by one worker at a time in the order they are due, and remembered for the window.
import type { Message, Store } from "@posthorn/receiver";
import { beforeEach, expect, test } from "vitest";
import {
  claimAccepted,
  claimed,
  defaults,
  LEASE_MS,
  makeDead,
  makeDone,
  makeFailed,
  messageWith,
  ordered,
  type StoreFeatures,
  type StoreWorld,
  times,
  WINDOW_MS,
  waitMsOf,
} from "../support/receiver/store-world.ts";

export function inboxTests(world: () => StoreWorld, features: StoreFeatures): void {
  let store: Store;
  let makeOlder: StoreWorld["makeOlder"];
  let rows: StoreWorld["rows"];
  let message: Message;
  beforeEach(() => {
    ({ store, makeOlder, rows } = world());
    message = messageWith();
  });

  test("of fifty concurrent calls of accept one stores the message", async () => {
    const results = await Promise.all(times(50, () => store.accept(message, defaults)));
    expect(results.filter(({ kind }) => kind === "accepted")).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === "waiting")).toHaveLength(49);
    expect(await store.claimDue(10, defaults)).toHaveLength(1);
  });

  test("an accepted message is claimed unchanged, and done when completed", async () => {
    const message = messageWith({ subject: "order/1", sequence: 7, body: Uint8Array.of(0, 255, 10) });
    expect(await store.accept(message, defaults)).toEqual({ kind: "accepted" });
    expect(await store.claim(message, defaults)).toEqual({ kind: "waiting" });
    const [claim, ...others] = await store.claimDue(10, defaults);
    expect(others).toEqual([]);
    expect(claim).toEqual({ message, token: expect.any(String), failures: 0 });
    if (claim === undefined) throw new Error("nothing claimed");
    expect(await store.complete(claim)).toBe(true);
    expect(await store.accept(message, defaults)).toEqual({ kind: "done" });
    expect(await store.claimDue(10, defaults)).toEqual([]);
  });

  test("accepting a running message returns when to retry, at most the rest of the lease", async () => {
    for (const claimBy of [claimAccepted, claimed]) {
      const { message } = await claimBy(store, messageWith());
      const result = waitMsOf(await store.accept(message, defaults), "running");
      expect(result).toBeGreaterThan(0);
      expect(result).toBeLessThanOrEqual(LEASE_MS);
    }
  });

  test("a released message can be accepted, and keeps its failures", async () => {
    await makeFailed(store, message);
    expect(await store.accept(message, defaults)).toEqual({ kind: "accepted" });
    expect(await store.claimDue(10, defaults)).toEqual([{ message, token: expect.any(String), failures: 1 }]);
  });

  test("concurrent calls of claimDue return each message once", async () => {
    const messages = times(20, () => messageWith());
    for (const message of messages) await store.accept(message, defaults);
    const ids: string[] = [];
    for (let turn = 0; turn < 20 && ids.length < messages.length; turn++) {
      const rounds = await Promise.all(times(4, () => store.claimDue(3, defaults)));
      for (const round of rounds) expect(round.length).toBeLessThanOrEqual(3);
      ids.push(...rounds.flat().map(({ message }) => message.id));
    }
    expect(ids.toSorted()).toEqual(messages.map(({ id }) => id).toSorted());
    expect(await store.claimDue(10, defaults)).toEqual([]);
  });

  test("the message that has been due longest is claimed first", async () => {
    const messages = times(4, () => messageWith());
    for (const message of messages) {
      await store.accept(message, defaults);
      await makeOlder(1_000);
    }
    const claims = [];
    for (let turn = 0; turn < 4; turn++) claims.push(...(await store.claimDue(1, defaults)));
    expect(claims.map(({ message }) => message.id)).toEqual(messages.map(({ id }) => id));
  });

  test.each([
    ["worker", claimAccepted],
    ["delivery", claimed],
  ])(
    "a message that a %s abandoned is claimed by a worker after its lease, with one failure",
    async (_, claimBy) => {
      const old = await claimBy(store, message);
      await makeOlder(LEASE_MS - 10_000);
      expect(await store.claimDue(1, defaults)).toEqual([]);
      await makeOlder(11_000);
      expect(await store.accept(message, defaults)).toEqual({ kind: "waiting" });
      const [claim] = await store.claimDue(1, defaults);
      expect(claim).toEqual({ message, token: expect.any(String), failures: 1 });
      expect(await store.complete(old)).toBe(false);
    },
  );

  test("inside the window a message is done, past it new, even if nothing was pruned", async () => {
    const other = messageWith();
    await makeDone(store, message);
    await makeDone(store, other);
    await makeOlder(WINDOW_MS - 30_000);
    expect(await store.claim(message, defaults)).toEqual({ kind: "done" });
    expect(await store.accept(other, defaults)).toEqual({ kind: "done" });
    await makeOlder(31_000);
    expect((await claimed(store, message)).failures).toBe(0);
    expect(await store.accept(other, defaults)).toEqual({ kind: "accepted" });
  });

  test("past the window the id may have another body", async () => {
    await makeDone(store, message);
    await makeOlder(WINDOW_MS + 1);
    const other = messageWith({ id: message.id, text: '{"total":2}' });
    expect((await claimed(store, other)).message).toEqual(other);
  });

  test("prune deletes at most the given number of messages", async () => {
    for (const message of times(5, () => messageWith())) await makeDone(store, message);
    await makeOlder(WINDOW_MS + 1);
    const fresh = messageWith();
    await makeDone(store, fresh, { ...defaults, windowMs: 10 * WINDOW_MS });
    const pruned = [];
    for (let turn = 0; turn < 4; turn++) pruned.push(await store.prune(2, defaults));
    expect(pruned).toEqual(features.expiresWithoutPrune ? [0, 0, 0, 0] : [2, 2, 1, 0]);
    expect(await rows()).toBe(1);
    expect(await store.claim(fresh, defaults)).toEqual({ kind: "done" });
  });

  test("prune deletes failed messages that were not sent again, and no unfinished ones", async () => {
    const failed = messageWith();
    const waiting = messageWith();
    const dead = messageWith();
    await makeFailed(store, failed);
    await store.accept(waiting, defaults);
    await makeDead(store, dead);
    await makeOlder(WINDOW_MS - 30_000);
    expect(await store.prune(10, defaults)).toBe(0);
    await makeOlder(31_000);
    const running = messageWith();
    await claimed(store, running);
    expect(await store.prune(10, defaults)).toBe(features.expiresWithoutPrune ? 0 : 1);
    expect((await claimed(store, failed)).failures).toBe(0);
    expect(await store.claim(waiting, defaults)).toEqual({ kind: "waiting" });
    expect(await store.claim(dead, defaults)).toEqual({ kind: "dead" });
    expect((await store.claim(running, defaults)).kind).toBe("running");
  });

  test("prune deletes subjects without messages within the window, and keeps the others", async () => {
    const of = (subject: string, sequence: number) => messageWith({ subject, sequence });
    await makeDone(store, of("old", 1), ordered);
    await makeOlder(WINDOW_MS - 30_000);
    await makeDone(store, of("young", 1), ordered);
    await makeOlder(31_000);
    await pruneAll(store);
    expect(await store.claim(of("young", 1), ordered)).toEqual({ kind: "stale" });
    await claimed(store, of("old", 1), ordered);
  });

  test("prune leaves nothing that is past the window", async () => {
    for (const index of times(7, (n) => n)) {
      const message = messageWith({ subject: `order/${index % 3}`, sequence: 1 + Math.floor(index / 3) });
      await makeDone(store, message, ordered);
    }
    await makeOlder(WINDOW_MS + 1);
    await pruneAll(store);
    expect(await rows()).toBe(0);
  });
}

async function pruneAll(store: Store): Promise<void> {
  for (let turn = 0; (await store.prune(2, defaults)) > 0; turn++) expect(turn).toBeLessThan(20);
}
