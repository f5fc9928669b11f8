// The claim, the writes of the handler and the completion are one transaction.
import { fork } from "node:child_process";
import { once } from "node:events";
// biome-ignore lint/plugin: a lease of another process expires in real time
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Claim, Message, Store, Transactions } from "@posthorn/receiver";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { renewLeaseDuring } from "../../packages/receiver/src/handle/renew-lease.ts";
import { isQuick } from "../support/matrix.ts";
import {
  claimAccepted,
  claimed,
  DEAD,
  defaults,
  type Effects,
  finishUnderLease,
  LEASE_MS,
  messagesInEveryState,
  messageWith,
  ordered,
  orderedWithoutWait,
  RELEASE,
  type SecondProcess,
  type StoreFeatures,
  type StoreWorld,
  times,
  waitMsOf,
} from "../support/receiver/store-world.ts";

/** Long enough for a renewal on a busy machine: the store's clock cannot be moved under an open transaction. */
const SHORT_LEASE_MS = 1_200;

export function transactionTests(world: () => StoreWorld, features: StoreFeatures): void {
  let store: Store;
  let transactions: Transactions<unknown>;
  let effects: Effects<unknown>;
  let makeOlder: StoreWorld["makeOlder"];
  let message: Message;
  beforeEach(() => {
    ({ store, makeOlder } = world());
    transactions = store.transactions as Transactions<unknown>;
    effects = world().effects as Effects<unknown>;
    message = messageWith();
  });

  test("the work runs once within the window, and its writes are committed with the completion", async () => {
    const message = messageWith({ subject: "order/1", sequence: 3 });
    const result = await transactions.run(message, defaults, async (tx, claim) => {
      expect(claim).toMatchObject({ message, failures: 0 });
      await effects.write(tx, "paid");
      expect(await effects.read()).toEqual([]);
    });
    expect(result).toEqual({ kind: "worked" });
    expect(await effects.read()).toEqual(["paid"]);
    expect(await store.claim(message, defaults)).toEqual({ kind: "done" });
    expect(await transactions.run(message, defaults, unexpected)).toEqual({ kind: "done" });
    await makeOlder(defaults.windowMs + 1_000);
    expect(await transactions.run(message, defaults, async () => {})).toEqual({ kind: "worked" });
  });

  test.each<[what: string, error: RegExp, fail: (tx: unknown) => Promise<void>]>([
    ["work throws", /shop closed/, fails],
    ["commit fails", /constraint|commit/i, (tx) => effects.breakCommit(tx)],
  ])("if the %s, everything is rolled back and the error is rethrown", async (_, error, fail) => {
    const failing = transactions.run(message, defaults, async (tx) => {
      await effects.write(tx, "half");
      await fail(tx);
    });
    await expect(failing).rejects.toThrow(error);
    expect(await effects.read()).toEqual([]);
    const again = await transactions.run(message, defaults, (tx) => effects.write(tx, "paid"));
    expect(again).toEqual({ kind: "worked" });
    expect(await effects.read()).toEqual(["paid"]);
  });

  test("of fifty concurrent runs one works, and the others are running or done", async () => {
    let works = 0;
    const results = await Promise.all(
      times(50, () =>
        transactions.run(message, defaults, async (tx) => {
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
    expect(await transactions.run(message, defaults, unexpected)).toEqual({ kind: "done" });
  });

  test("a second run returns `running` at once, for at most a lease", async () => {
    await transactions.run(message, defaults, async () => {
      const second = waitMsOf(await transactions.run(message, defaults, unexpected), "running");
      expect(second).toBeGreaterThan(0);
      expect(second).toBeLessThanOrEqual(LEASE_MS);
      const forged = messageWith({ id: message.id, text: "{}" });
      expect(await transactions.run(forged, defaults, unexpected)).toEqual({ kind: "other_body" });
    });
  });

  test("a message in another state is not worked on", async () => {
    const { running, waiting, dead, done } = await messagesInEveryState(store);
    expect((await transactions.run(running, defaults, unexpected)).kind).toBe("running");
    expect(await transactions.run(waiting, defaults, unexpected)).toEqual({ kind: "waiting" });
    expect(await transactions.run(dead, defaults, unexpected)).toEqual({ kind: "dead" });
    const forged = messageWith({ id: done.id, text: "{}" });
    expect(await transactions.run(forged, defaults, unexpected)).toEqual({ kind: "other_body" });
  });

  test("the sequence guard applies: stale is done, a gap waits since it was first seen, one at a time", async () => {
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

  test("ten messages of a subject that are run together repeatedly are worked on in order", async () => {
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
    const message = messageWith({ subject: "order/1", sequence: 1 });
    await expect(transactions.run(message, ordered, fails)).rejects.toThrow("shop closed");
    expect(await transactions.run(message, ordered, async () => {})).toEqual({ kind: "worked" });
  });

  test("a message from the inbox is completed with its writes", async () => {
    const claim = await claimAccepted(store, message);
    expect(await transactions.finish(claim, (tx) => effects.write(tx, "paid"))).toBe(true);
    expect(await effects.read()).toEqual(["paid"]);
    expect(await store.accept(message, defaults)).toEqual({ kind: "done" });
    expect(await transactions.finish(claim, (tx) => effects.write(tx, "twice"))).toBe(false);
    expect(await effects.read()).toEqual(["paid"]);
  });

  test("after a lost lease the work is rolled back", async () => {
    const claim = await claimAccepted(store, messageWith());
    await makeOlder(LEASE_MS + 1);
    expect(await transactions.finish(claim, (tx) => effects.write(tx, "late"))).toBe(false);
    expect(await effects.read()).toEqual([]);
    const [next] = await store.claimDue(1, defaults);
    expect(next?.failures).toBe(1);
    expect(await transactions.finish(claim, (tx) => effects.write(tx, "late"))).toBe(false);
    expect(await effects.read()).toEqual([]);
    expect(next !== undefined && (await transactions.finish(next, (tx) => effects.write(tx, "paid")))).toBe(
      true,
    );
    expect(await effects.read()).toEqual(["paid"]);
  });

  test("work from the inbox that throws is rolled back, and its claim can be failed", async () => {
    const claim = await claimAccepted(store, message);
    const failing = transactions.finish(claim, async (tx) => {
      await effects.write(tx, "half");
      await fails();
    });
    await expect(failing).rejects.toThrow("shop closed");
    expect(await effects.read()).toEqual([]);
    expect(await store.fail(claim, { error: "shop closed", next: { kind: "retry", afterMs: 0 } })).toBe(true);
    expect(await store.claimDue(1, defaults)).toMatchObject([{ message: { id: message.id }, failures: 1 }]);
  });

  test.skipIf(isQuick)("work from the inbox may take three leases without losing its claim", async () => {
    const claim = await claimAccepted(store, message, SHORT_LEASE_MS);
    const finished = renewLeaseDuring(store, claim, SHORT_LEASE_MS, (signal) =>
      transactions.finish(claim, async (tx) => {
        await threeLeases(signal);
        await effects.write(tx, "paid");
      }),
    );
    expect(await finished).toBe(true);
    expect(await effects.read()).toEqual(["paid"]);
    expect(await store.accept(message, defaults)).toEqual({ kind: "done" });
  });

  test("work from the inbox that fails after its lease expired can still be failed", async () => {
    const leaseMs = SHORT_LEASE_MS / 2;
    let failed: Claim | undefined;
    const failing = finishUnderLease(store, leaseMs, async (_tx, claim) => {
      failed = claim;
      await setTimeout(1.2 * leaseMs);
      throw new Error("no such product");
    });
    await expect(failing).rejects.toThrow("no such product");
    expect(await store.fail(failed as Claim, DEAD)).toBe(true);
    expect(await store.deadLetters.count()).toBe(1);
  });

  test("a recorded failure counts, and has its outcome", async () => {
    const [again, later, dead] = [messageWith(), messageWith(), messageWith()];
    await transactions.recordFailure(again, RELEASE, defaults);
    await transactions.recordFailure(again, RELEASE, defaults);
    await transactions.run(again, defaults, async (_, { failures }) => expect(failures).toBe(2));
    await transactions.recordFailure(later, { error: "one", next: { kind: "retry", afterMs: 0 } }, defaults);
    expect(await store.claimDue(1, defaults)).toMatchObject([{ message: { id: later.id }, failures: 1 }]);
    await transactions.recordFailure(dead, DEAD, defaults);
    expect(await store.deadLetters.list({ limit: 10 })).toMatchObject([
      { message: dead, failures: 1, error: "no such product" },
    ]);
  });

  test("a recorded failure does not change a message that is done or claimed by another", async () => {
    const [done, running] = [messageWith(), messageWith()];
    await transactions.run(done, defaults, async () => {});
    const claim = await claimed(store, running);
    for (const next of [{ kind: "release" }, { kind: "dead" }] as const) {
      expect(await transactions.recordFailure(done, { error: "late", next }, defaults)).toBe(false);
      expect(await transactions.recordFailure(running, { error: "late", next }, defaults)).toBe(false);
    }
    expect(await store.claim(done, defaults)).toEqual({ kind: "done" });
    expect(await store.deadLetters.count()).toBe(0);
    expect(await store.complete(claim)).toBe(true);
  });

  test("a failure of a message that was done before the window is recorded, with the failed body", async () => {
    const first = messageWith();
    await transactions.run(first, defaults, async () => {});
    await makeOlder(defaults.windowMs + 1_000);
    const fresh = messageWith({ id: first.id, text: '{"total":2}' });
    expect(await transactions.recordFailure(fresh, DEAD, defaults)).toBe(true);
    expect(await store.deadLetters.list({ limit: 10 })).toMatchObject([
      { message: { id: first.id, digest: fresh.digest }, failures: 1 },
    ]);
  });

  if (!features.processes) return;

  test("a process killed during its transaction leaves nothing, and the next run writes its effect once", async () => {
    const { moduleUrl, args } = world().secondProcess as SecondProcess;
    const file = fileURLToPath(new URL("../support/receiver/store-child.ts", import.meta.url));
    const execArgv = ["--conditions=posthorn-source", "--import", "tsx"];
    const child = fork(file, [message.id, moduleUrl, ...args], { execArgv });
    onTestFinished(() => void child.kill("SIGKILL"));
    const exited = once(child, "exit");
    expect(await Promise.race([once(child, "message"), exited])).toEqual(["written", undefined]);
    child.kill("SIGKILL");
    await exited;
    const run = async () =>
      (await transactions.run(message, defaults, (tx) => effects.write(tx, "paid"))).kind;
    await expect.poll(run, { timeout: 20_000 }).toBe("worked");
    expect(await effects.read()).toEqual(["paid"]);
  });
}

const unexpected = async (): Promise<void> => {
  throw new Error("The work ran although the message was not free.");
};

const fails = async (): Promise<void> => {
  throw new Error("shop closed");
};

/** Rejects when the lease is lost before. */
async function threeLeases(signal: AbortSignal): Promise<void> {
  await setTimeout(3 * SHORT_LEASE_MS, undefined, { signal });
}
