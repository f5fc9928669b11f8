// The sequence guard: older messages are dropped, early ones wait for a limited time.
import type { ClaimOptions, Message, Store } from "@posthorn/receiver";
import { beforeEach, expect, test } from "vitest";
import {
  claimed,
  DEAD,
  defaults,
  LEASE_MS,
  messageWith,
  ordered,
  orderedWithoutWait,
  RELEASE,
  type StoreWorld,
  times,
  waitMsOf,
} from "../support/receiver/store-world.ts";

const GAP_MS = ordered.order?.gapWaitMs ?? 0;
const nth = (sequence: number, subject = "order/1"): Message => messageWith({ subject, sequence });

async function apply(store: Store, message: Message, given: ClaimOptions = ordered): Promise<void> {
  expect(await store.complete(await claimed(store, message, given))).toBe(true);
}

export function orderTests(world: () => StoreWorld): void {
  let store: Store;
  let makeOlder: StoreWorld["makeOlder"];
  beforeEach(() => {
    ({ store, makeOlder } = world());
  });

  test("an older message is stale: done without being handled", async () => {
    await apply(store, nth(5), orderedWithoutWait);
    for (const message of [nth(4), nth(5)]) {
      expect(await store.claim(message, ordered)).toEqual({ kind: "stale" });
      expect(await store.claim(message, ordered)).toEqual({ kind: "done" });
    }
  });

  test("sequences may begin at 0 and are applied in order", async () => {
    for (const sequence of [0, 1, 2]) await apply(store, nth(sequence));
    expect(await store.claim(nth(0), ordered)).toEqual({ kind: "stale" });
    await store.accept(nth(0, "order/2"), defaults);
    expect(await store.claimDue(10, ordered)).toMatchObject([{ message: { sequence: 0 } }]);
  });

  test("a failed message does not count as applied", async () => {
    const first = nth(1);
    const claim = await claimed(store, first, ordered);
    await store.fail(claim, RELEASE);
    expect((await store.claim(nth(2), ordered)).kind).toBe("gap");
    await apply(store, first);
  });

  test("after a gap a message waits for `gapWaitMs` since it was first seen", async () => {
    await apply(store, nth(1));
    const third = nth(3);
    const early = waitMsOf(await store.claim(third, ordered), "gap");
    expect(early).toBeLessThanOrEqual(GAP_MS);
    expect(early).toBeGreaterThan(GAP_MS - 30_000);

    await makeOlder(GAP_MS - 20_000);
    const late = waitMsOf(await store.claim(third, ordered), "gap");
    expect(late).toBeLessThanOrEqual(20_000);
    await makeOlder(21_000);
    await apply(store, third);
    expect(await store.claim(nth(2), ordered)).toEqual({ kind: "stale" });
  });

  test("the wait begins when a delivery first finds its subject busy", async () => {
    const first = await claimed(store, nth(1), ordered);
    const third = nth(3);
    expect((await store.claim(third, ordered)).kind).toBe("running");
    await makeOlder(GAP_MS - 20_000);
    await store.complete(first);
    const late = waitMsOf(await store.claim(third, ordered), "gap");
    expect(late).toBeLessThanOrEqual(20_000);
  });

  test("a new subject that begins with a later sequence waits too", async () => {
    const second = nth(2);
    expect((await store.claim(second, ordered)).kind).toBe("gap");
    await makeOlder(GAP_MS + 1);
    await apply(store, second);
    expect(await store.claim(nth(1), ordered)).toEqual({ kind: "stale" });
    await apply(store, nth(9, "order/2"), orderedWithoutWait);
  });

  test("one message of a subject is claimed at a time, even of fifty concurrent ones", async () => {
    const results = await Promise.all(times(50, (index) => store.claim(nth(index + 1), orderedWithoutWait)));
    expect(results.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
    for (const result of results) {
      if (result.kind === "claimed") continue;
      if (result.kind !== "running") throw new Error(result.kind);
      expect(result.retryAfterMs).toBeGreaterThan(0);
      // a loser may have read the clock a little before the winner
      expect(result.retryAfterMs).toBeLessThanOrEqual(LEASE_MS + 1_000);
    }
  });

  test("ten messages that are claimed together repeatedly succeed in order, without waiting", async () => {
    const messages = times(10, (index) => nth(10 - index));
    const handled: unknown[] = [];
    for (const _ of messages) {
      const before = handled.length;
      const results = await Promise.all(messages.map((message) => store.claim(message, ordered)));
      for (const result of results) {
        if (result.kind !== "claimed") continue;
        handled.push(result.claim.message.sequence);
        await store.complete(result.claim);
      }
      expect(handled).toHaveLength(before + 1);
    }
    expect(handled).toEqual(times(10, (index) => index + 1));
  });

  test("a crashed process releases its subject when the lease expires", async () => {
    const first = nth(1);
    const old = await claimed(store, first, ordered);
    expect((await store.claim(nth(2), orderedWithoutWait)).kind).toBe("running");
    await makeOlder(LEASE_MS + 1);
    await apply(store, nth(2), orderedWithoutWait);
    expect(await store.complete(old)).toBe(false);
    expect(await store.claim(first, ordered)).toEqual({ kind: "stale" });
  });

  test("a renewed lease holds the subject too", async () => {
    const claim = await claimed(store, nth(1), ordered);
    await makeOlder(LEASE_MS - 10_000);
    await store.renew(claim, LEASE_MS);
    await makeOlder(LEASE_MS - 10_000);
    expect((await store.claim(nth(2), orderedWithoutWait)).kind).toBe("running");
  });

  test("a failure releases the subject", async () => {
    for (const next of [{ kind: "release" }, { kind: "dead" }, { kind: "retry", afterMs: 60_000 }] as const) {
      const subject = `order/${next.kind}`;
      await store.fail(await claimed(store, nth(1, subject), ordered), { error: "no", next });
      await apply(store, nth(2, subject), orderedWithoutWait);
    }
  });

  test("subjects do not wait for each other, nor do sources, nor messages without a subject or sequence", async () => {
    await claimed(store, nth(1), ordered);
    await claimed(store, nth(1, "order/2"), ordered);
    await claimed(store, { ...nth(1), source: "another" }, ordered);
    await claimed(store, messageWith({ sequence: 7 }), ordered);
    await claimed(store, messageWith({ subject: "order/1" }), ordered);
    await claimed(store, messageWith(), ordered);
  });

  test("without the guard sequences are ignored", async () => {
    await apply(store, nth(5), defaults);
    await claimed(store, nth(4), defaults);
    await claimed(store, nth(9), defaults);
  });

  test("claimDue returns one message of a subject at a time, the lowest sequence first", async () => {
    const messages = [nth(3), nth(1), nth(2), nth(1, "order/2")];
    for (const message of messages) await store.accept(message, defaults);
    const rounds: (string | number | null)[][] = [];
    for (let turn = 0; turn < 4; turn++) {
      const claims = await store.claimDue(10, orderedWithoutWait);
      rounds.push(claims.map(({ message }) => `${message.subject} ${message.sequence}`).toSorted());
      expect(await store.claimDue(10, orderedWithoutWait)).toEqual([]);
      for (const claim of claims) await store.complete(claim);
    }
    expect(rounds).toEqual([["order/1 1", "order/2 1"], ["order/1 2"], ["order/1 3"], []]);
  });

  test("in the inbox a later message waits for the missing one, at most for `gapWaitMs`", async () => {
    const [second, fourth] = [nth(2), nth(4)];
    await store.accept(second, defaults);
    expect(await store.claimDue(10, ordered)).toEqual([]);
    await store.accept(nth(1), defaults);
    for (const sequence of [1, 2]) {
      const [claim, ...others] = await store.claimDue(10, ordered);
      expect([claim?.message.sequence, others]).toEqual([sequence, []]);
      if (claim !== undefined) await store.complete(claim);
    }
    await store.accept(fourth, defaults);
    expect(await store.claimDue(10, ordered)).toEqual([]);
    await makeOlder(GAP_MS + 1);
    expect((await store.claimDue(10, ordered)).map(({ message }) => message.id)).toEqual([fourth.id]);
  });

  test("in the inbox a stale message is done without being claimed", async () => {
    const second = nth(2);
    await apply(store, nth(5), orderedWithoutWait);
    await store.accept(second, defaults);
    expect(await store.claimDue(10, ordered)).toEqual([]);
    expect(await store.accept(second, defaults)).toEqual({ kind: "done" });
  });

  test("a dead letter requeued after a later message was applied is stale", async () => {
    const first = nth(1);
    await store.fail(await claimed(store, first, ordered), DEAD);
    await apply(store, nth(2), orderedWithoutWait);
    await store.deadLetters.requeue(first);
    expect(await store.claimOne(first, ordered)).toBeNull();
    expect(await store.claim(first, ordered)).toEqual({ kind: "done" });
  });
}
