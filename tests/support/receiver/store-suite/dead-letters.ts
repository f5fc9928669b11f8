// Dead letters: found page by page, brought back or put away by people only.

import type { DeadLetter } from "@posthorn/receiver";
import { expect, test } from "vitest";
import { claimed, makeDead, messageWith, type StoreWorld, terms, times } from "../store-world.ts";

export function deadLetterTests(world: () => StoreWorld): void {
  test("a dead letter has its message, its tries, its error and the time", async () => {
    const { store } = world();
    const message = messageWith({ subject: "order/1", sequence: 2 });
    await store.fail(await claimed(store, message), { error: "first", next: { kind: "release" } });
    await makeDead(store, message, "second");
    expect(await store.deadLetters.list({ limit: 10 })).toEqual([
      { message, tries: 2, error: "second", diedAt: expect.any(Date) },
    ]);
    const [letter] = await store.deadLetters.list({ limit: 10 });
    expect(Math.abs(Date.now() - (letter?.diedAt.getTime() ?? 0))).toBeLessThan(60_000);
  });

  test("they are listed the newest first", async () => {
    const { store, makeOlder } = world();
    const messages = times(3, () => messageWith());
    for (const message of messages) {
      await makeDead(store, message);
      await makeOlder(1_000);
    }
    const listed = await store.deadLetters.list({ limit: 10 });
    expect(listed.map(({ message }) => message.id)).toEqual(messages.map(({ id }) => id).toReversed());
  });

  test("pages miss none and repeat none, also of those that died at the same moment", async () => {
    const { store } = world();
    const messages = times(7, () => messageWith());
    await Promise.all(messages.map((message) => makeDead(store, message)));
    await store.accept(messageWith(), terms);
    const found: DeadLetter[] = [];
    for (let page = 0; page < 4; page++) {
      const after = found.at(-1);
      const letters = await store.deadLetters.list({ limit: 3, ...(after !== undefined && { after }) });
      expect(letters.length).toBe([3, 3, 1, 0][page]);
      found.push(...letters);
    }
    expect(found.map(({ message }) => message.id).toSorted()).toEqual(
      messages.map(({ id }) => id).toSorted(),
    );
    expect(await store.deadLetters.count()).toBe(7);
  });

  test("a revived one that nobody took can be buried again, and nothing else can", async () => {
    const { store } = world();
    const message = messageWith({ subject: "order/1", sequence: 1 });
    await makeDead(store, message, "shop closed");
    expect(await store.deadLetters.undoRequeue(message)).toBe(false);
    await store.deadLetters.requeue(message);
    expect(await store.deadLetters.undoRequeue(message)).toBe(true);
    expect(await store.deadLetters.list({ limit: 10 })).toMatchObject([{ message, error: "shop closed" }]);
    expect(await store.claimDue(10, terms)).toEqual([]);
    expect(await store.claim(message, terms)).toEqual({ kind: "dead" });
    await store.deadLetters.requeue(message);
    const claim = await store.claimOne(message, terms);
    expect(await store.deadLetters.undoRequeue(message)).toBe(false);
    expect(claim && (await store.complete(claim))).toBe(true);
    expect(await store.deadLetters.undoRequeue(message)).toBe(false);
  });

  test("a revived one is due at once with its failures forgotten, for `take` or for `claimOne`", async () => {
    const { store } = world();
    const [first, second] = [messageWith(), messageWith()];
    for (const message of [first, second]) {
      await makeDead(store, message);
      expect(await store.deadLetters.requeue(message)).toBe(true);
      expect(await store.claim(message, terms)).toEqual({ kind: "waiting" });
    }
    expect(await store.deadLetters.count()).toBe(0);
    const claim = await store.claimOne(second, terms);
    expect(claim).toEqual({ message: second, token: expect.any(String), tries: 0 });
    expect(await store.claimOne(second, terms)).toBeNull();
    expect(await store.claimDue(10, terms)).toEqual([
      { message: first, token: expect.any(String), tries: 0 },
    ]);
    expect(claim !== null && (await store.complete(claim))).toBe(true);
    expect(await store.claim(second, terms)).toEqual({ kind: "done" });
  });

  test("of fifty at once one revives it, and one takes it", async () => {
    const { store } = world();
    const message = messageWith();
    await makeDead(store, message);
    const revived = await Promise.all(times(50, () => store.deadLetters.requeue(message)));
    expect(revived.filter(Boolean)).toHaveLength(1);
    const taken = await Promise.all(times(50, () => store.claimOne(message, terms)));
    expect(taken.filter((claim) => claim !== null)).toHaveLength(1);
  });

  test("a dismissed one is done", async () => {
    const { store } = world();
    const message = messageWith();
    await makeDead(store, message);
    expect(await store.deadLetters.discard(message)).toBe(true);
    expect(await store.deadLetters.count()).toBe(0);
    expect(await store.claim(message, terms)).toEqual({ kind: "done" });
    expect(await store.deadLetters.discard(message)).toBe(false);
    expect(await store.deadLetters.requeue(message)).toBe(false);
  });

  test("only a dead letter is revived, dismissed or taken by name", async () => {
    const { store } = world();
    const running = messageWith();
    const later = messageWith();
    await claimed(store, running);
    const claim = await claimed(store, later);
    await store.fail(claim, { error: "no", next: { kind: "retry", afterMs: 60_000 } });
    for (const key of [running, later, messageWith(), { source: "another", id: running.id }]) {
      expect(await store.deadLetters.requeue(key)).toBe(false);
      expect(await store.deadLetters.discard(key)).toBe(false);
      expect(await store.claimOne(key, terms)).toBeNull();
    }
    expect((await store.claim(running, terms)).kind).toBe("running");
  });
}
