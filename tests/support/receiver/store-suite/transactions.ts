// Claim, the handler's own writes and the done mark: all of them or none.

// biome-ignore lint/plugin: a lease of another process expires in real time
import { setTimeout } from "node:timers/promises";
import type { Message, Store, Transactions } from "@posthorn/receiver";
import { expect, test } from "vitest";
import { renewLeaseDuring } from "../../../../packages/receiver/src/handle/renew-lease.ts";
import { isQuick } from "../../matrix.ts";
import {
  claimed,
  type Effects,
  LEASE_MS,
  makeDead,
  messageWith,
  ordered,
  orderedWithoutWait,
  type StoreWorld,
  terms,
  times,
} from "../store-world.ts";

/** Long enough for a renewal on a busy machine: the store's clock cannot be moved under an open transaction. */
const SHORT_LEASE_MS = 1_200;

export function transactionTests(current: () => StoreWorld): void {
  const world = () => {
    const { store, effects, makeOlder } = current();
    if (store.transactions === null || effects === undefined)
      throw new Error("This store has no transactions.");
    return { store, effects, makeOlder, transactions: store.transactions };
  };

  test("the work runs once, and its writes are there with the done mark", async () => {
    const { store, transactions, effects } = world();
    const message = messageWith({ subject: "order/1", sequence: 3 });
    const result = await transactions.run(message, terms, async (tx, claim) => {
      expect(claim).toMatchObject({ message, tries: 0 });
      await effects.write(tx, "paid");
      expect(await effects.read()).toEqual([]);
    });
    expect(result).toEqual({ kind: "worked" });
    expect(await effects.read()).toEqual(["paid"]);
    expect(await store.claim(message, terms)).toEqual({ kind: "done" });
    expect(await transactions.run(message, terms, unexpected)).toEqual({ kind: "done" });
  });

  test("when the work throws, everything is undone and the error is passed on", async () => {
    const { transactions, effects } = world();
    const message = messageWith();
    const failing = transactions.run(message, terms, async (tx) => {
      await effects.write(tx, "half");
      throw new Error("shop closed");
    });
    await expect(failing).rejects.toThrow("shop closed");
    expect(await effects.read()).toEqual([]);
    await expectToWork(transactions, effects, message);
  });

  test("when the commit fails, everything is undone and the error is passed on", async () => {
    const { transactions, effects } = world();
    const message = messageWith();
    const failing = transactions.run(message, terms, async (tx) => {
      await effects.write(tx, "half");
      await effects.breakCommit(tx);
    });
    await expect(failing).rejects.toThrow();
    expect(await effects.read()).toEqual([]);
    await expectToWork(transactions, effects, message);
  });

  test("of fifty at once one works, and no other hears that it must send again for ever", async () => {
    const { transactions, effects } = world();
    const message = messageWith();
    let works = 0;
    const results = await Promise.all(
      times(50, () =>
        transactions.run(message, terms, async (tx) => {
          works += 1;
          await effects.write(tx, "paid");
        }),
      ),
    );
    expect(works).toBe(1);
    expect(await effects.read()).toEqual(["paid"]);
    const others = results.filter(({ kind }) => kind !== "worked");
    expect(others).toHaveLength(49);
    for (const { kind } of others) expect(["running", "done"]).toContain(kind);
    expect(await transactions.run(message, terms, unexpected)).toEqual({ kind: "done" });
  });

  test("while one works the next hears at once that it is running, for a lease at most", async () => {
    const { transactions } = world();
    const message = messageWith();
    await transactions.run(message, terms, async () => {
      const second = await transactions.run(message, terms, unexpected);
      if (second.kind !== "running") throw new Error(second.kind);
      expect(second.retryAfterMs).toBeGreaterThan(0);
      expect(second.retryAfterMs).toBeLessThanOrEqual(LEASE_MS);
    });
  });

  test("two different messages do not hinder each other's done marks", async () => {
    const { transactions, effects } = world();
    await Promise.all(
      times(10, (index) => transactions.run(messageWith(), terms, (tx) => effects.write(tx, `${index}`))),
    );
    expect((await effects.read()).toSorted()).toEqual(times(10, String));
  });

  test("what is known is answered without work", async () => {
    const { store, transactions } = world();
    const [running, waiting, dead, done] = times(4, () => messageWith());
    if (!running || !waiting || !dead || !done) throw new Error("four messages");
    await claimed(store, running);
    await store.accept(waiting, terms);
    await makeDead(store, dead);
    await store.complete(await claimed(store, done));
    expect((await transactions.run(running, terms, unexpected)).kind).toBe("running");
    expect(await transactions.run(waiting, terms, unexpected)).toEqual({ kind: "waiting" });
    expect(await transactions.run(dead, terms, unexpected)).toEqual({ kind: "dead" });
    const forged = messageWith({ id: done.id, text: "{}" });
    expect(await transactions.run(forged, terms, unexpected)).toEqual({ kind: "other_body" });
  });

  test("the sequence guard holds: stale is done, a gap waits since it was first seen, one at a time", async () => {
    const { store, transactions, makeOlder } = world();
    const nth = (sequence: number) => messageWith({ subject: "order/1", sequence });
    const first = await transactions.run(nth(1), ordered, async () => {
      const next = nth(2);
      expect((await transactions.run(next, orderedWithoutWait, unexpected)).kind).toBe("running");
    });
    expect(first).toEqual({ kind: "worked" });
    const [old, early] = [nth(1), nth(3)];
    expect(await transactions.run(old, ordered, unexpected)).toEqual({ kind: "stale" });
    expect(await store.claim(old, ordered)).toEqual({ kind: "done" });
    expect((await transactions.run(early, ordered, unexpected)).kind).toBe("gap");
    await makeOlder((ordered.order?.gapWaitMs ?? 0) + 1);
    expect(await transactions.run(early, ordered, async () => {})).toEqual({ kind: "worked" });
    expect(await transactions.run(nth(2), ordered, unexpected)).toEqual({ kind: "stale" });
  });

  test("ten of a subject that come together again and again are worked on in order", async () => {
    const { transactions, effects } = world();
    const messages = times(10, (index) => messageWith({ subject: "order/1", sequence: 10 - index }));
    for (let round = 1; round <= messages.length; round++) {
      await Promise.all(
        messages.map((message) =>
          transactions.run(message, ordered, (tx) => effects.write(tx, `${message.sequence}`)),
        ),
      );
      expect((await effects.read()).length).toBeGreaterThanOrEqual(round);
    }
    expect(await effects.read()).toEqual(times(10, (index) => `${index + 1}`));
  });

  test("work that throws does not move the sequence", async () => {
    const { transactions } = world();
    const message = messageWith({ subject: "order/1", sequence: 1 });
    await expect(transactions.run(message, ordered, fails)).rejects.toThrow("shop closed");
    expect(await transactions.run(message, ordered, async () => {})).toEqual({ kind: "worked" });
  });

  test("what was taken from the inbox finishes with its writes", async () => {
    const { store, transactions, effects } = world();
    const message = messageWith();
    const claim = await takeAccepted(store, message);
    expect(await transactions.finish(claim, (tx) => effects.write(tx, "paid"))).toBe(true);
    expect(await effects.read()).toEqual(["paid"]);
    expect(await store.accept(message, terms)).toEqual({ kind: "done" });
    expect(await transactions.finish(claim, (tx) => effects.write(tx, "twice"))).toBe(false);
    expect(await effects.read()).toEqual(["paid"]);
  });

  test("with a lost lease nothing of the work remains", async () => {
    const { store, transactions, effects, makeOlder } = world();
    const claim = await takeAccepted(store, messageWith());
    await makeOlder(LEASE_MS + 1);
    expect(await transactions.finish(claim, (tx) => effects.write(tx, "late"))).toBe(false);
    expect(await effects.read()).toEqual([]);
    const [next] = await store.claimDue(1, terms);
    expect(next?.tries).toBe(1);
    expect(await transactions.finish(claim, (tx) => effects.write(tx, "late"))).toBe(false);
    expect(await effects.read()).toEqual([]);
    expect(next !== undefined && (await transactions.finish(next, (tx) => effects.write(tx, "paid")))).toBe(
      true,
    );
    expect(await effects.read()).toEqual(["paid"]);
  });

  test("work from the inbox that throws is undone, and can be failed by its claim", async () => {
    const { store, transactions, effects } = world();
    const message = messageWith();
    const claim = await takeAccepted(store, message);
    const failing = transactions.finish(claim, async (tx) => {
      await effects.write(tx, "half");
      throw new Error("shop closed");
    });
    await expect(failing).rejects.toThrow("shop closed");
    expect(await effects.read()).toEqual([]);
    expect(await store.fail(claim, { error: "shop closed", next: { kind: "retry", afterMs: 0 } })).toBe(true);
    expect(await store.claimDue(1, terms)).toMatchObject([{ message: { id: message.id }, tries: 1 }]);
  });

  test.skipIf(isQuick)(
    "work from the inbox may take three leases: it is not told that the lease is lost, and is done once",
    async () => {
      const { store, transactions, effects } = world();
      const message = messageWith();
      const claim = await takeAccepted(store, message, SHORT_LEASE_MS);
      const finished = renewLeaseDuring(store, claim, SHORT_LEASE_MS, (signal) =>
        transactions.finish(claim, async (tx) => {
          await threeLeases(signal);
          await effects.write(tx, "paid");
        }),
      );
      expect(await finished).toBe(true);
      expect(await effects.read()).toEqual(["paid"]);
      expect(await store.accept(message, terms)).toEqual({ kind: "done" });
    },
  );

  test("work from the inbox that fails when its lease is over, unrenewed, can be failed all the same", async () => {
    const { store, transactions } = world();
    const message = messageWith();
    const leaseMs = SHORT_LEASE_MS / 2;
    const claim = await takeAccepted(store, message, leaseMs);
    const failing = transactions.finish(claim, async () => {
      await setTimeout(1.2 * leaseMs);
      throw new Error("no such product");
    });
    await expect(failing).rejects.toThrow("no such product");
    expect(await store.fail(claim, { error: "no such product", next: { kind: "dead" } })).toBe(true);
    expect(await store.deadLetters.list({ limit: 10 })).toMatchObject([{ message: { id: message.id } }]);
  });

  test("a noted failure counts, and ends as it says", async () => {
    const { store, transactions } = world();
    const [again, later, dead] = [messageWith(), messageWith(), messageWith()];
    await transactions.recordFailure(again, { error: "one", next: { kind: "release" } }, terms);
    await transactions.recordFailure(again, { error: "two", next: { kind: "release" } }, terms);
    await transactions.run(again, terms, async (_, { tries }) => expect(tries).toBe(2));
    await transactions.recordFailure(later, { error: "one", next: { kind: "retry", afterMs: 0 } }, terms);
    expect(await store.claimDue(1, terms)).toMatchObject([{ message: { id: later.id }, tries: 1 }]);
    await transactions.recordFailure(dead, { error: "no such product", next: { kind: "dead" } }, terms);
    expect(await store.deadLetters.list({ limit: 10 })).toMatchObject([
      { message: dead, tries: 1, error: "no such product" },
    ]);
  });

  test("a noted failure leaves alone what is done, or claimed by another since", async () => {
    const { store, transactions } = world();
    const [done, running] = [messageWith(), messageWith()];
    await transactions.run(done, terms, async () => {});
    const claim = await claimed(store, running);
    for (const next of [{ kind: "release" }, { kind: "dead" }] as const) {
      expect(await transactions.recordFailure(done, { error: "late", next }, terms)).toBe(false);
      expect(await transactions.recordFailure(running, { error: "late", next }, terms)).toBe(false);
    }
    expect(await store.claim(done, terms)).toEqual({ kind: "done" });
    expect(await store.deadLetters.count()).toBe(0);
    expect(await store.complete(claim)).toBe(true);
  });

  test("a failure of what was done before the window is noted, with the body that failed", async () => {
    const { store, transactions, makeOlder } = world();
    const first = messageWith();
    await transactions.run(first, terms, async () => {});
    await makeOlder(terms.windowMs + 1_000);
    const fresh = messageWith({ id: first.id, text: '{"total":2}' });
    expect(await transactions.recordFailure(fresh, { error: "no", next: { kind: "dead" } }, terms)).toBe(
      true,
    );
    expect(await store.deadLetters.list({ limit: 10 })).toMatchObject([
      { message: { id: first.id, digest: fresh.digest }, tries: 1 },
    ]);
  });
}

const unexpected = async (): Promise<void> => {
  throw new Error("The work ran although the message was not free.");
};

const fails = async (): Promise<void> => {
  throw new Error("shop closed");
};

async function expectToWork(
  transactions: Transactions<unknown>,
  effects: Effects<unknown>,
  message: Message,
): Promise<void> {
  const result = await transactions.run(message, terms, (tx) => effects.write(tx, "paid"));
  expect(result).toEqual({ kind: "worked" });
  expect(await effects.read()).toEqual(["paid"]);
}

/** Rejects when the lease is lost before. */
async function threeLeases(signal: AbortSignal): Promise<void> {
  await setTimeout(3 * SHORT_LEASE_MS, undefined, { signal });
}

async function takeAccepted(store: Store, message: Message, leaseMs = LEASE_MS) {
  await store.accept(message, terms);
  const claim = await store.claimOne(message, { ...terms, leaseMs });
  if (claim === null) throw new Error(`The message ${message.id} cannot be taken.`);
  return claim;
}
