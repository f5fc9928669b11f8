// What every store keeps about a message: one of many claims succeeds, leases expire, failures have three outcomes, and dead
// letters are requeued or discarded only on request.
import type { Claim, DeadLetter, Message, Store } from "@posthorn/receiver";
import { beforeEach, expect, test } from "vitest";
import {
  claimed,
  DEAD,
  defaults,
  LEASE_MS,
  makeDead,
  makeFailed,
  messagesInEveryState,
  messageWith,
  RELEASE,
  type StoreWorld,
  times,
  waitMsOf,
} from "../support/receiver/store-world.ts";

export function messageTests(world: () => StoreWorld): void {
  let store: Store;
  let makeOlder: StoreWorld["makeOlder"];
  let rows: StoreWorld["rows"];
  let message: Message;
  beforeEach(() => {
    ({ store, makeOlder, rows } = world());
    message = messageWith();
  });

  const expectLost = async (claim: Claim) => {
    expect(await store.renew(claim, LEASE_MS)).toBe(false);
    expect(await store.complete(claim)).toBe(false);
    for (const failure of [RELEASE, DEAD]) expect(await store.fail(claim, failure)).toBe(false);
  };

  test("of fifty concurrent claims one succeeds", async () => {
    const results = await Promise.all(times(50, () => store.claim(message, defaults)));
    expect(results.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === "running")).toHaveLength(49);
  });

  test("a claim returns the message unchanged, byte for byte, with a new token", async () => {
    const odd = messageWith({
      id: "id with spaces, ö, 😀 and 'quotes\"",
      type: "ö.ä",
      subject: "order/1",
      sequence: 2 ** 53 - 1,
      headers: { "ce-id": "a%20b", "x-empty": "" },
      body: Uint8Array.from(times(256, (byte) => byte)),
    });
    const plain = messageWith({ createdAt: null, headers: {}, body: new Uint8Array(0) });
    const first = await claimed(store, odd);
    const second = await claimed(store, plain);
    expect(first).toEqual({ message: odd, token: expect.any(String), failures: 0 });
    expect(second.message).toEqual(plain);
    expect(first.token).not.toBe(second.token);
  });

  test("the earliest and the latest date do not prevent a claim", async () => {
    for (const createdAt of [new Date(-8.64e15), new Date(8.64e15)]) {
      const message = messageWith({ createdAt });
      expect(await store.complete(await claimed(store, message))).toBe(true);
      await store.accept(messageWith({ createdAt }), defaults);
      expect(await store.claimDue(1, defaults)).toHaveLength(1);
    }
  });

  test("ids that differ in case, trailing spaces, source, or the end of the source are different messages", async () => {
    for (const [source, id] of [
      ["a", "b:c"],
      ["a:b", "c"],
      ["a", "B:c"],
      ["a", "b:c "],
      ["another", "b:c"],
    ] as const) {
      await claimed(store, messageWith({ source, id }));
    }
  });

  test("a claim of a running message returns when to retry, at most the rest of the lease", async () => {
    await claimed(store, message);
    const early = waitMsOf(await store.claim(message, defaults), "running");
    expect(early).toBeLessThanOrEqual(LEASE_MS);
    expect(early).toBeGreaterThan(LEASE_MS - 30_000);

    await makeOlder(LEASE_MS - 20_000);
    const late = waitMsOf(await store.claim(message, defaults), "running");
    expect(late).toBeLessThanOrEqual(20_000);
    expect(late).toBeGreaterThan(0);
  });

  test("after the lease one of fifty claims succeeds, the crash counts as a failure, and the old token is invalid", async () => {
    const old = await claimed(store, message);
    await makeOlder(LEASE_MS + 1);
    const results = await Promise.all(times(50, () => store.claim(message, defaults)));
    const winners = results.filter((result) => result.kind === "claimed");
    expect(winners).toHaveLength(1);
    const [{ claim }] = winners as [(typeof winners)[0]];
    expect(claim.failures).toBe(1);
    expect(claim.token).not.toBe(old.token);

    await expectLost(old);
    expect((await store.claim(message, defaults)).kind).toBe("running");
    expect(await store.deadLetters.count()).toBe(0);
    expect(await store.complete(claim)).toBe(true);
  });

  test("an expired lease is lost even if no other process has claimed the message", async () => {
    const old = await claimed(store, message);
    await makeOlder(LEASE_MS + 1);
    await expectLost(old);
    expect((await claimed(store, message)).failures).toBe(1);
  });

  test("a renewed lease begins at the renewal", async () => {
    const claim = await claimed(store, message);
    await makeOlder(LEASE_MS - 10_000);
    expect(await store.renew(claim, LEASE_MS)).toBe(true);
    await makeOlder(LEASE_MS - 10_000);
    expect((await store.claim(message, defaults)).kind).toBe("running");
    expect(await store.complete(claim)).toBe(true);
  });

  test("a done message is a duplicate and can be neither renewed, completed again nor failed", async () => {
    const claim = await claimed(store, message);
    await store.complete(claim);
    await expectLost(claim);
    expect(await store.claim(message, defaults)).toEqual({ kind: "done" });
  });

  test("an id with another body is rejected in every state, and nothing is written", async () => {
    const { running, failed, waiting, dead, done } = await messagesInEveryState(store);
    const before = await rows();
    for (const { id } of [running, failed, waiting, dead, done]) {
      const forged = messageWith({ id, text: '{"total":1000000}' });
      expect(await store.claim(forged, defaults)).toEqual({ kind: "other_body" });
      expect(await store.accept(forged, defaults)).toEqual({ kind: "other_body" });
    }
    expect(await rows()).toBe(before);
    expect((await claimed(store, failed)).message).toEqual(failed);
    expect((await store.claimDue(10, defaults)).map(({ message }) => message)).toEqual([waiting]);
  });

  test("`release` lets the next delivery claim the message at once, and counts", async () => {
    for (const failures of [0, 1, 2]) {
      const claim = await claimed(store, message);
      expect(claim.failures).toBe(failures);
      expect(await store.fail(claim, RELEASE)).toBe(true);
    }
    expect(await store.claimDue(10, defaults)).toEqual([]);
    expect(await store.complete(await claimed(store, message))).toBe(true);
    expect(await store.claim(message, defaults)).toEqual({ kind: "done" });
  });

  test("`retry` puts the message into the inbox, due after the delay, and counts", async () => {
    const claim = await claimed(store, message);
    const next = { kind: "retry", afterMs: 60_000 } as const;
    expect(await store.fail(claim, { error: "shop closed", next })).toBe(true);
    expect(await store.claim(message, defaults)).toEqual({ kind: "waiting" });
    await makeOlder(50_000);
    expect(await store.claimDue(10, defaults)).toEqual([]);
    await makeOlder(11_000);
    expect(await store.claimDue(10, defaults)).toEqual([{ message, token: expect.any(String), failures: 1 }]);
  });

  test("`dead` makes a dead letter that no delivery requeues", async () => {
    await makeDead(store, message);
    expect(await store.claim(message, defaults)).toEqual({ kind: "dead" });
    expect(await store.accept(message, defaults)).toEqual({ kind: "dead" });
    await makeOlder(10 * defaults.windowMs);
    expect(await store.claim(message, defaults)).toEqual({ kind: "dead" });
    expect(await store.claimDue(10, defaults)).toEqual([]);
  });

  test("at most a thousand characters of an error are stored", async () => {
    for (const length of [1_000, 1_001, 100_000]) {
      const claim = await claimed(store, messageWith());
      await store.fail(claim, { error: "é".repeat(length), next: { kind: "dead" } });
    }
    for (const { error } of await store.deadLetters.list({ limit: 10 }))
      expect(error).toBe("é".repeat(1_000));
  });

  test("a dead letter has its message, attempts, error and time", async () => {
    const message = messageWith({ subject: "order/1", sequence: 2 });
    await makeFailed(store, message);
    await makeDead(store, message, "second");
    expect(await store.deadLetters.list({ limit: 10 })).toEqual([
      { message, failures: 2, error: "second", diedAt: expect.any(Date) },
    ]);
    const [letter] = await store.deadLetters.list({ limit: 10 });
    expect(Math.abs(Date.now() - (letter?.diedAt.getTime() ?? 0))).toBeLessThan(60_000);
  });

  test("dead letters are listed newest first", async () => {
    const messages = times(3, () => messageWith());
    for (const message of messages) {
      await makeDead(store, message);
      await makeOlder(1_000);
    }
    const listed = await store.deadLetters.list({ limit: 10 });
    expect(listed.map(({ message }) => message.id)).toEqual(messages.map(({ id }) => id).toReversed());
  });

  test("pages contain each dead letter once, even if several died at the same time", async () => {
    const messages = times(7, () => messageWith());
    await Promise.all(messages.map((message) => makeDead(store, message)));
    await store.accept(messageWith(), defaults);
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

  test("undoRequeue restores a requeued dead letter until it is claimed, and nothing else", async () => {
    const message = messageWith({ subject: "order/1", sequence: 1 });
    await makeDead(store, message, "shop closed");
    expect(await store.deadLetters.undoRequeue(message)).toBe(false);
    await store.deadLetters.requeue(message);
    expect(await store.deadLetters.undoRequeue(message)).toBe(true);
    expect(await store.deadLetters.list({ limit: 10 })).toMatchObject([{ message, error: "shop closed" }]);
    expect(await store.claimDue(10, defaults)).toEqual([]);
    expect(await store.claim(message, defaults)).toEqual({ kind: "dead" });
    await store.deadLetters.requeue(message);
    const claim = await store.claimOne(message, defaults);
    expect(await store.deadLetters.undoRequeue(message)).toBe(false);
    expect(claim && (await store.complete(claim))).toBe(true);
    expect(await store.deadLetters.undoRequeue(message)).toBe(false);
  });

  test("a requeued message is due at once without its failures, for `claimDue` and `claimOne`", async () => {
    const [first, second] = [messageWith(), messageWith()];
    for (const message of [first, second]) {
      await makeDead(store, message);
      expect(await store.deadLetters.requeue(message)).toBe(true);
      expect(await store.claim(message, defaults)).toEqual({ kind: "waiting" });
    }
    expect(await store.deadLetters.count()).toBe(0);
    const claim = await store.claimOne(second, defaults);
    expect(claim).toEqual({ message: second, token: expect.any(String), failures: 0 });
    expect(await store.claimOne(second, defaults)).toBeNull();
    expect(await store.claimDue(10, defaults)).toEqual([
      { message: first, token: expect.any(String), failures: 0 },
    ]);
    expect(claim !== null && (await store.complete(claim))).toBe(true);
    expect(await store.claim(second, defaults)).toEqual({ kind: "done" });
  });

  test("one of fifty concurrent calls requeues, and one claims", async () => {
    await makeDead(store, message);
    const requeued = await Promise.all(times(50, () => store.deadLetters.requeue(message)));
    expect(requeued.filter(Boolean)).toHaveLength(1);
    const claims = await Promise.all(times(50, () => store.claimOne(message, defaults)));
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
  });

  test("a discarded dead letter is done", async () => {
    await makeDead(store, message);
    expect(await store.deadLetters.discard(message)).toBe(true);
    expect(await store.deadLetters.count()).toBe(0);
    expect(await store.claim(message, defaults)).toEqual({ kind: "done" });
    expect(await store.deadLetters.discard(message)).toBe(false);
    expect(await store.deadLetters.requeue(message)).toBe(false);
  });

  test("only a dead letter can be requeued, discarded or claimed by id", async () => {
    const running = messageWith();
    const later = messageWith();
    await claimed(store, running);
    const claim = await claimed(store, later);
    await store.fail(claim, { error: "no", next: { kind: "retry", afterMs: 60_000 } });
    for (const key of [running, later, messageWith(), { source: "another", id: running.id }]) {
      expect(await store.deadLetters.requeue(key)).toBe(false);
      expect(await store.deadLetters.discard(key)).toBe(false);
      expect(await store.claimOne(key, defaults)).toBeNull();
    }
    expect((await store.claim(running, defaults)).kind).toBe("running");
  });
}
