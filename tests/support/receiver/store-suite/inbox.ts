// Accepted messages: kept once, taken by one worker at a time, in the order they are due.
import { expect, test } from "vitest";
import { claimed, LEASE_MS, messageWith, type StoreWorld, terms, times } from "../store-world.ts";

export function inboxTests(world: () => StoreWorld): void {
  test("of fifty acceptances at once one keeps the message", async () => {
    const { store } = world();
    const message = messageWith();
    const results = await Promise.all(times(50, () => store.accept(message, terms)));
    expect(results.filter(({ kind }) => kind === "accepted")).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === "waiting")).toHaveLength(49);
    expect(await store.claimDue(10, terms)).toHaveLength(1);
  });

  test("an accepted message is taken as it was given, and done when completed", async () => {
    const { store } = world();
    const message = messageWith({ subject: "order/1", sequence: 7, body: Uint8Array.of(0, 255, 10) });
    expect(await store.accept(message, terms)).toEqual({ kind: "accepted" });
    expect(await store.claim(message, terms)).toEqual({ kind: "waiting" });
    const [claim, ...others] = await store.claimDue(10, terms);
    expect(others).toEqual([]);
    expect(claim).toEqual({ message, token: expect.any(String), tries: 0 });
    if (claim === undefined) throw new Error("nothing taken");
    expect(await store.complete(claim)).toBe(true);
    expect(await store.accept(message, terms)).toEqual({ kind: "done" });
    expect(await store.claimDue(10, terms)).toEqual([]);
  });

  test("while somebody has it, whoever sends it again hears for how long at most", async () => {
    const { store } = world();
    const inInbox = messageWith();
    const claimedAtOnce = messageWith();
    await store.accept(inInbox, terms);
    await store.claimDue(1, terms);
    await claimed(store, claimedAtOnce);
    for (const message of [inInbox, claimedAtOnce]) {
      const result = await store.accept(message, terms);
      if (result.kind !== "running") throw new Error(result.kind);
      expect(result.retryAfterMs).toBeGreaterThan(0);
      expect(result.retryAfterMs).toBeLessThanOrEqual(LEASE_MS);
    }
  });

  test("what failed `again` can be accepted, with its failures", async () => {
    const { store } = world();
    const message = messageWith();
    await store.fail(await claimed(store, message), { error: "no", next: { kind: "release" } });
    expect(await store.accept(message, terms)).toEqual({ kind: "accepted" });
    expect(await store.claimDue(10, terms)).toEqual([{ message, token: expect.any(String), tries: 1 }]);
  });

  test("those at once never take the same, and together take all", async () => {
    const { store } = world();
    const messages = times(20, () => messageWith());
    for (const message of messages) await store.accept(message, terms);
    const taken: string[] = [];
    for (let turn = 0; turn < 20 && taken.length < messages.length; turn++) {
      const rounds = await Promise.all(times(4, () => store.claimDue(3, terms)));
      for (const round of rounds) expect(round.length).toBeLessThanOrEqual(3);
      taken.push(...rounds.flat().map(({ message }) => message.id));
    }
    expect(taken.toSorted()).toEqual(messages.map(({ id }) => id).toSorted());
    expect(await store.claimDue(10, terms)).toEqual([]);
  });

  test("what is due longest is taken first", async () => {
    const { store, makeOlder } = world();
    const messages = times(4, () => messageWith());
    for (const message of messages) {
      await store.accept(message, terms);
      await makeOlder(1_000);
    }
    const taken = [];
    for (let turn = 0; turn < 4; turn++) taken.push(...(await store.claimDue(1, terms)));
    expect(taken.map(({ message }) => message.id)).toEqual(messages.map(({ id }) => id));
  });

  test("what a worker took and left is taken again after its lease, as one failure", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    await store.accept(message, terms);
    const [old] = await store.claimDue(1, terms);
    if (old === undefined) throw new Error("nothing taken");
    await makeOlder(LEASE_MS - 10_000);
    expect(await store.claimDue(1, terms)).toEqual([]);
    await makeOlder(11_000);
    expect(await store.accept(message, terms)).toEqual({ kind: "waiting" });
    const [claim] = await store.claimDue(1, terms);
    expect(claim).toEqual({ message, token: expect.any(String), tries: 1 });
    expect(await store.complete(old)).toBe(false);
  });

  test("what a claimer left is taken by a worker after its lease", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    await claimed(store, message);
    expect(await store.claimDue(1, terms)).toEqual([]);
    await makeOlder(LEASE_MS + 1);
    expect(await store.claimDue(1, terms)).toEqual([{ message, token: expect.any(String), tries: 1 }]);
  });
}
