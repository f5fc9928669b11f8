// How long a store remembers, and that it forgets in steps.

import type { Store } from "@posthorn/receiver";
import { expect, test } from "vitest";
import {
  claimed,
  messageWith,
  ordered,
  type StoreFeatures,
  type StoreWorld,
  terms,
  times,
  WINDOW_MS,
} from "../store-world.ts";

export function windowTests(world: () => StoreWorld, features: StoreFeatures): void {
  test("just inside the window a message is done, past it fresh, also when nothing was pruned", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    const other = messageWith();
    await store.complete(await claimed(store, message));
    await store.complete(await claimed(store, other));
    await makeOlder(WINDOW_MS - 30_000);
    expect(await store.claim(message, terms)).toEqual({ kind: "done" });
    expect(await store.accept(other, terms)).toEqual({ kind: "done" });
    await makeOlder(31_000);
    expect((await claimed(store, message)).tries).toBe(0);
    expect(await store.accept(other, terms)).toEqual({ kind: "accepted" });
  });

  test("past the window the id may have another body", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    await store.complete(await claimed(store, message));
    await makeOlder(WINDOW_MS + 1);
    const other = messageWith({ id: message.id, text: '{"total":2}' });
    expect((await claimed(store, other)).message).toEqual(other);
  });

  test("of fifty at once one gets what is past the window", async () => {
    const { store, makeOlder } = world();
    const message = messageWith();
    await store.complete(await claimed(store, message));
    await makeOlder(WINDOW_MS + 1);
    const results = await Promise.all(times(50, () => store.claim(message, terms)));
    expect(results.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
  });

  test("prune forgets no more than it is told to at a time", async () => {
    const { store, makeOlder, rows } = world();
    for (const message of times(5, () => messageWith())) await store.complete(await claimed(store, message));
    await makeOlder(WINDOW_MS + 1);
    const fresh = messageWith();
    await store.complete(await claimed(store, fresh, { ...terms, windowMs: 10 * WINDOW_MS }));
    const forgotten = [];
    for (let turn = 0; turn < 4; turn++) forgotten.push(await store.prune(2, terms));
    expect(forgotten).toEqual(features.forgetsByItself ? [0, 0, 0, 0] : [2, 2, 1, 0]);
    expect(await rows()).toBe(1);
    expect(await store.claim(fresh, terms)).toEqual({ kind: "done" });
  });

  test("prune forgets what failed and never came again, and nothing that is still to be done", async () => {
    const { store, makeOlder } = world();
    const failed = messageWith();
    const waiting = messageWith();
    const dead = messageWith();
    await store.fail(await claimed(store, failed), { error: "no", next: { kind: "release" } });
    await store.accept(waiting, terms);
    await store.fail(await claimed(store, dead), { error: "no", next: { kind: "dead" } });
    await makeOlder(WINDOW_MS - 30_000);
    expect(await store.prune(10, terms)).toBe(0);
    await makeOlder(31_000);
    const running = messageWith();
    await claimed(store, running);
    expect(await store.prune(10, terms)).toBe(features.forgetsByItself ? 0 : 1);
    expect((await claimed(store, failed)).tries).toBe(0);
    expect(await store.claim(waiting, terms)).toEqual({ kind: "waiting" });
    expect(await store.claim(dead, terms)).toEqual({ kind: "dead" });
    expect((await store.claim(running, terms)).kind).toBe("running");
  });

  test("prune forgets subjects not heard of within the window, and keeps the others", async () => {
    const { store, makeOlder } = world();
    const of = (subject: string, sequence: number) => messageWith({ subject, sequence });
    await store.complete(await claimed(store, of("old", 1), ordered));
    await makeOlder(WINDOW_MS - 30_000);
    await store.complete(await claimed(store, of("young", 1), ordered));
    await makeOlder(31_000);
    await pruneAll(store);
    expect(await store.claim(of("young", 1), ordered)).toEqual({ kind: "stale" });
    await claimed(store, of("old", 1), ordered);
  });

  test("nothing is left of what is past the window", async () => {
    const { store, makeOlder, rows } = world();
    for (const index of times(7, (n) => n)) {
      const message = messageWith({ subject: `order/${index % 3}`, sequence: 1 + Math.floor(index / 3) });
      await store.complete(await claimed(store, message, ordered));
    }
    await makeOlder(WINDOW_MS + 1);
    await pruneAll(store);
    expect(await rows()).toBe(0);
  });
}

async function pruneAll(store: Store): Promise<void> {
  for (let turn = 0; (await store.prune(2, terms)) > 0; turn++) expect(turn).toBeLessThan(20);
}
