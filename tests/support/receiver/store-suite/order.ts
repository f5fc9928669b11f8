// The sequence guard: what is older than what was applied is dropped, what is too early waits for a while.

import type { ClaimOptions, Message, Store } from "@posthorn/receiver";
import { expect, test } from "vitest";
import {
  claimed,
  LEASE_MS,
  messageWith,
  ordered,
  orderedWithoutWait,
  type StoreWorld,
  terms,
  times,
} from "../store-world.ts";

const GAP_MS = ordered.order?.gapWaitMs ?? 0;
const nth = (sequence: number, subject = "order/1"): Message => messageWith({ subject, sequence });

async function apply(store: Store, message: Message, given: ClaimOptions = ordered): Promise<void> {
  expect(await store.complete(await claimed(store, message, given))).toBe(true);
}

export function orderTests(world: () => StoreWorld): void {
  test("in order, each is free when the one before is done", async () => {
    const { store } = world();
    for (const sequence of [1, 2, 3]) await apply(store, nth(sequence));
  });

  test("an older one is stale: done without having been handled", async () => {
    const { store } = world();
    await apply(store, nth(5), orderedWithoutWait);
    for (const message of [nth(4), nth(5)]) {
      expect(await store.claim(message, ordered)).toEqual({ kind: "stale" });
      expect(await store.claim(message, ordered)).toEqual({ kind: "done" });
    }
  });

  test("sequences may begin at 0: nothing applied is not the same as 0 applied", async () => {
    const { store } = world();
    for (const sequence of [0, 1, 2]) await apply(store, nth(sequence));
    expect(await store.claim(nth(0), ordered)).toEqual({ kind: "stale" });
    await store.accept(nth(0, "order/2"), terms);
    expect(await store.claimDue(10, ordered)).toMatchObject([{ message: { sequence: 0 } }]);
  });

  test("one that failed does not count as applied", async () => {
    const { store } = world();
    const first = nth(1);
    const claim = await claimed(store, first, ordered);
    await store.fail(claim, { error: "no", next: { kind: "release" } });
    expect((await store.claim(nth(2), ordered)).kind).toBe("gap");
    await apply(store, first);
  });

  test("after a gap it waits, since it was first seen, and no longer", async () => {
    const { store, makeOlder } = world();
    await apply(store, nth(1));
    const third = nth(3);
    const early = await store.claim(third, ordered);
    if (early.kind !== "gap") throw new Error(early.kind);
    expect(early.retryAfterMs).toBeLessThanOrEqual(GAP_MS);
    expect(early.retryAfterMs).toBeGreaterThan(GAP_MS - 30_000);

    await makeOlder(GAP_MS - 20_000);
    const late = await store.claim(third, ordered);
    if (late.kind !== "gap") throw new Error(late.kind);
    expect(late.retryAfterMs).toBeLessThanOrEqual(20_000);
    await makeOlder(21_000);
    await apply(store, third);
    expect(await store.claim(nth(2), ordered)).toEqual({ kind: "stale" });
  });

  test("the missing one closes the gap at once", async () => {
    const { store } = world();
    await apply(store, nth(1));
    const third = nth(3);
    expect((await store.claim(third, ordered)).kind).toBe("gap");
    await apply(store, nth(2));
    await apply(store, third);
  });

  test("without a wait the later one is taken at once", async () => {
    const { store } = world();
    await apply(store, nth(1), orderedWithoutWait);
    await apply(store, nth(3), orderedWithoutWait);
  });

  test("a subject first heard of with a later sequence waits too", async () => {
    const { store, makeOlder } = world();
    const second = nth(2);
    expect((await store.claim(second, ordered)).kind).toBe("gap");
    await makeOlder(GAP_MS + 1);
    await apply(store, second);
    expect(await store.claim(nth(1), ordered)).toEqual({ kind: "stale" });
    await apply(store, nth(9, "order/2"), orderedWithoutWait);
  });

  test("of one subject one message at a time is claimed, also of fifty at once", async () => {
    const { store } = world();
    const results = await Promise.all(times(50, (index) => store.claim(nth(index + 1), orderedWithoutWait)));
    expect(results.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
    for (const result of results) {
      if (result.kind === "claimed") continue;
      if (result.kind !== "running") throw new Error(result.kind);
      expect(result.retryAfterMs).toBeGreaterThan(0);
      // whoever asks may have looked at the clock a little before the one that was faster
      expect(result.retryAfterMs).toBeLessThanOrEqual(LEASE_MS + 1_000);
    }
  });

  test("ten that come together again and again are claimed in order: those behind do not hinder the next in line", async () => {
    const { store } = world();
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

  test("whoever holds a subject and dies loses it with the lease", async () => {
    const { store, makeOlder } = world();
    const first = nth(1);
    const old = await claimed(store, first, ordered);
    expect((await store.claim(nth(2), orderedWithoutWait)).kind).toBe("running");
    await makeOlder(LEASE_MS + 1);
    await apply(store, nth(2), orderedWithoutWait);
    expect(await store.complete(old)).toBe(false);
    expect(await store.claim(first, ordered)).toEqual({ kind: "stale" });
  });

  test("a renewed lease holds the subject too", async () => {
    const { store, makeOlder } = world();
    const claim = await claimed(store, nth(1), ordered);
    await makeOlder(LEASE_MS - 10_000);
    await store.renew(claim, LEASE_MS);
    await makeOlder(LEASE_MS - 10_000);
    expect((await store.claim(nth(2), orderedWithoutWait)).kind).toBe("running");
  });

  test("a failure lets go of the subject", async () => {
    const { store } = world();
    for (const next of [{ kind: "release" }, { kind: "dead" }, { kind: "retry", afterMs: 60_000 }] as const) {
      const subject = `order/${next.kind}`;
      await store.fail(await claimed(store, nth(1, subject), ordered), { error: "no", next });
      await apply(store, nth(2, subject), orderedWithoutWait);
    }
  });

  test("subjects do not wait for each other, nor do sources, nor messages without a subject or sequence", async () => {
    const { store } = world();
    await claimed(store, nth(1), ordered);
    await claimed(store, nth(1, "order/2"), ordered);
    await claimed(store, { ...nth(1), source: "another" }, ordered);
    await claimed(store, messageWith({ sequence: 7 }), ordered);
    await claimed(store, messageWith({ subject: "order/1" }), ordered);
    await claimed(store, messageWith(), ordered);
  });

  test("without the guard sequences mean nothing", async () => {
    const { store } = world();
    await apply(store, nth(5), terms);
    await claimed(store, nth(4), terms);
    await claimed(store, nth(9), terms);
  });

  test("the inbox gives out one of a subject at a time, the lowest sequence first", async () => {
    const { store } = world();
    const messages = [nth(3), nth(1), nth(2), nth(1, "order/2")];
    for (const message of messages) await store.accept(message, terms);
    const taken: (string | number | null)[][] = [];
    for (let turn = 0; turn < 4; turn++) {
      const claims = await store.claimDue(10, orderedWithoutWait);
      taken.push(claims.map(({ message }) => `${message.subject} ${message.sequence}`).toSorted());
      expect(await store.claimDue(10, orderedWithoutWait)).toEqual([]);
      for (const claim of claims) await store.complete(claim);
    }
    expect(taken).toEqual([["order/1 1", "order/2 1"], ["order/1 2"], ["order/1 3"], []]);
  });

  test("in the inbox a later one waits for the missing one, and no longer than it may", async () => {
    const { store, makeOlder } = world();
    const [second, fourth] = [nth(2), nth(4)];
    await store.accept(second, terms);
    expect(await store.claimDue(10, ordered)).toEqual([]);
    await store.accept(nth(1), terms);
    for (const sequence of [1, 2]) {
      const [claim, ...others] = await store.claimDue(10, ordered);
      expect([claim?.message.sequence, others]).toEqual([sequence, []]);
      if (claim !== undefined) await store.complete(claim);
    }
    await store.accept(fourth, terms);
    expect(await store.claimDue(10, ordered)).toEqual([]);
    await makeOlder(GAP_MS + 1);
    expect((await store.claimDue(10, ordered)).map(({ message }) => message.id)).toEqual([fourth.id]);
  });

  test("in the inbox a stale one is done without having been given out", async () => {
    const { store } = world();
    const second = nth(2);
    await apply(store, nth(5), orderedWithoutWait);
    await store.accept(second, terms);
    expect(await store.claimDue(10, ordered)).toEqual([]);
    expect(await store.accept(second, terms)).toEqual({ kind: "done" });
  });

  test("a dead letter brought back too late is stale", async () => {
    const { store } = world();
    const first = nth(1);
    await store.fail(await claimed(store, first, ordered), { error: "no", next: { kind: "dead" } });
    await apply(store, nth(2), orderedWithoutWait);
    await store.deadLetters.requeue(first);
    expect(await store.claimOne(first, ordered)).toBeNull();
    expect(await store.claim(first, ordered)).toEqual({ kind: "done" });
  });
}
