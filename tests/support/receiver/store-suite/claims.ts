// One claimer of many, and what the others hear; leases, and what their end means.
import { expect, test } from "vitest";
import { claimed, LEASE_MS, messageWith, type StoreWorld, terms, times } from "../store-world.ts";

export function claimTests(world: () => StoreWorld): void {
  test("of fifty at once one gets the message", async () => {
    const { store } = world();
    const message = messageWith();
    const results = await Promise.all(times(50, () => store.claim(message, terms)));
    expect(results.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === "running")).toHaveLength(49);
  });

  test("a claim hands back the message as it was given, byte for byte, and has a token of its own", async () => {
    const { store } = world();
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
    expect(first).toEqual({ message: odd, token: expect.any(String), tries: 0 });
    expect(second.message).toEqual(plain);
    expect(first.token).not.toBe(second.token);
  });

  test("a time that is not of this world stands in nobody's way", async () => {
    const { store } = world();
    for (const createdAt of [new Date(-8.64e15), new Date(8.64e15)]) {
      const message = messageWith({ createdAt });
      expect(await store.complete(await claimed(store, message))).toBe(true);
      await store.accept(messageWith({ createdAt }), terms);
      expect(await store.claimDue(1, terms)).toHaveLength(1);
    }
  });

  test("the same id of another source is another message", async () => {
    const { store } = world();
    const message = messageWith();
    await claimed(store, message);
    await claimed(store, { ...message, source: "another" });
  });

  test("ids that differ in case, in spaces at the end, or in where source and id part, are different", async () => {
    const { store } = world();
    for (const [source, id] of [
      ["a", "b:c"],
      ["a:b", "c"],
      ["a", "B:c"],
      ["a", "b:c "],
    ] as const) {
      await claimed(store, messageWith({ source, id }));
    }
  });

  test("what is done is a duplicate", async () => {
    const { store } = world();
    const message = messageWith();
    expect(await store.complete(await claimed(store, message))).toBe(true);
    expect(await store.claim(message, terms)).toEqual({ kind: "done" });
  });

  test("while it is running others hear for how long at most", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    await claimed(store, message);
    const early = await store.claim(message, terms);
    if (early.kind !== "running") throw new Error(early.kind);
    expect(early.retryAfterMs).toBeLessThanOrEqual(LEASE_MS);
    expect(early.retryAfterMs).toBeGreaterThan(LEASE_MS - 30_000);

    await makeOlder(LEASE_MS - 20_000);
    const late = await store.claim(message, terms);
    if (late.kind !== "running") throw new Error(late.kind);
    expect(late.retryAfterMs).toBeLessThanOrEqual(20_000);
    expect(late.retryAfterMs).toBeGreaterThan(0);
  });

  test("when the lease is over one of fifty takes over, the crash counts as a failure, and the old token can do nothing", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    const old = await claimed(store, message);
    await makeOlder(LEASE_MS + 1);
    const results = await Promise.all(times(50, () => store.claim(message, terms)));
    const winners = results.filter((result) => result.kind === "claimed");
    expect(winners).toHaveLength(1);
    const [{ claim }] = winners as [(typeof winners)[0]];
    expect(claim.tries).toBe(1);
    expect(claim.token).not.toBe(old.token);

    expect(await store.renew(old, LEASE_MS)).toBe(false);
    expect(await store.fail(old, { error: "late", next: { kind: "dead" } })).toBe(false);
    expect(await store.complete(old)).toBe(false);
    expect((await store.claim(message, terms)).kind).toBe("running");
    expect(await store.deadLetters.count()).toBe(0);
    expect(await store.complete(claim)).toBe(true);
  });

  test("a lease that ended is lost even when nobody else has the message yet", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    const old = await claimed(store, message);
    await makeOlder(LEASE_MS + 1);
    expect(await store.renew(old, LEASE_MS)).toBe(false);
    expect(await store.complete(old)).toBe(false);
    expect(await store.fail(old, { error: "late", next: { kind: "release" } })).toBe(false);
    expect((await claimed(store, message)).tries).toBe(1);
  });

  test("a renewed lease ends so long after the renewal", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    const claim = await claimed(store, message);
    await makeOlder(LEASE_MS - 10_000);
    expect(await store.renew(claim, LEASE_MS)).toBe(true);
    await makeOlder(LEASE_MS - 10_000);
    expect((await store.claim(message, terms)).kind).toBe("running");
    expect(await store.complete(claim)).toBe(true);
  });

  test("what is done can be neither renewed, completed again nor failed", async () => {
    const { store } = world();
    const message = messageWith();
    const claim = await claimed(store, message);
    await store.complete(claim);
    expect(await store.renew(claim, LEASE_MS)).toBe(false);
    expect(await store.complete(claim)).toBe(false);
    expect(await store.fail(claim, { error: "late", next: { kind: "release" } })).toBe(false);
    expect(await store.claim(message, terms)).toEqual({ kind: "done" });
  });

  test("the id with another body is refused in every state, and nothing is written", async () => {
    const { store, rows } = world();
    const running = messageWith();
    const failed = messageWith();
    const waiting = messageWith();
    const dead = messageWith();
    const done = messageWith();
    await claimed(store, running);
    await store.fail(await claimed(store, failed), { error: "no", next: { kind: "release" } });
    await store.accept(waiting, terms);
    await store.fail(await claimed(store, dead), { error: "no", next: { kind: "dead" } });
    await store.complete(await claimed(store, done));
    const before = await rows();
    for (const { id } of [running, failed, waiting, dead, done]) {
      const forged = messageWith({ id, text: '{"total":1000000}' });
      expect(await store.claim(forged, terms)).toEqual({ kind: "other_body" });
      expect(await store.accept(forged, terms)).toEqual({ kind: "other_body" });
    }
    expect(await rows()).toBe(before);
    expect((await claimed(store, failed)).message).toEqual(failed);
    expect((await store.claimDue(10, terms)).map(({ message }) => message)).toEqual([waiting]);
  });
}
