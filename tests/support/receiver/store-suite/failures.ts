// The three ends of a failed try, and that none of them leaves a message which nobody can handle.
import { expect, test } from "vitest";
import { claimed, messageWith, type StoreWorld, terms, times } from "../store-world.ts";

export function failureTests(world: () => StoreWorld): void {
  test("`again` lets the next delivery have it at once, and counts", async () => {
    const { store } = world();
    const message = messageWith();
    for (const tries of [0, 1, 2]) {
      const claim = await claimed(store, message);
      expect(claim.tries).toBe(tries);
      expect(await store.fail(claim, { error: "shop closed", next: { kind: "release" } })).toBe(true);
    }
    expect(await store.claimDue(10, terms)).toEqual([]);
    expect(await store.complete(await claimed(store, message))).toBe(true);
    expect(await store.claim(message, terms)).toEqual({ kind: "done" });
  });

  test("of fifty at once one gets what failed", async () => {
    const { store } = world();
    const message = messageWith();
    await store.fail(await claimed(store, message), { error: "shop closed", next: { kind: "release" } });
    const results = await Promise.all(times(50, () => store.claim(message, terms)));
    expect(results.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
  });

  test("`later` is in the inbox, due after so long, and counts", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    const claim = await claimed(store, message);
    expect(await store.fail(claim, { error: "shop closed", next: { kind: "retry", afterMs: 60_000 } })).toBe(
      true,
    );
    expect(await store.claim(message, terms)).toEqual({ kind: "waiting" });
    await makeOlder(50_000);
    expect(await store.claimDue(10, terms)).toEqual([]);
    await makeOlder(11_000);
    expect(await store.claimDue(10, terms)).toEqual([{ message, token: expect.any(String), tries: 1 }]);
  });

  test("`dead` is a dead letter that no delivery brings back", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    await store.fail(await claimed(store, message), { error: "no such product", next: { kind: "dead" } });
    expect(await store.claim(message, terms)).toEqual({ kind: "dead" });
    expect(await store.accept(message, terms)).toEqual({ kind: "dead" });
    await makeOlder(10 * terms.windowMs);
    expect(await store.claim(message, terms)).toEqual({ kind: "dead" });
    expect(await store.claimDue(10, terms)).toEqual([]);
  });

  test("of an error a thousand characters are kept", async () => {
    const { store } = world();
    for (const length of [1_000, 1_001, 100_000]) {
      const claim = await claimed(store, messageWith());
      await store.fail(claim, { error: "é".repeat(length), next: { kind: "dead" } });
    }
    for (const { error } of await store.deadLetters.list({ limit: 10 }))
      expect(error).toBe("é".repeat(1_000));
  });
}
