// Several processes on one store, and one of them killed in the middle of its work.
import { expect, test } from "vitest";
import { isQuick } from "../../matrix.ts";
import { startStoreProcess } from "../store-process.ts";
import { LEASE_MS, messageWith, type StoreFeatures, type StoreWorld, terms, times } from "../store-world.ts";

/** Starting a process takes seconds: in `npm test` one test stands for all of them. */
const slow = test.skipIf(isQuick);

export function processTests(current: () => StoreWorld, features: StoreFeatures): void {
  const start = () => {
    const { secondProcess } = current();
    if (secondProcess === undefined) throw new Error("This store is of one process.");
    return startStoreProcess(secondProcess);
  };

  slow("of fifty claims by two processes one succeeds", async () => {
    await using first = await start();
    await using second = await start();
    const message = messageWith();
    const results = await Promise.all([first.claim(message, terms, 25), second.claim(message, terms, 25)]);
    expect(results.flat().filter(({ kind }) => kind === "claimed")).toHaveLength(1);
  });

  slow("two processes never take the same from the inbox, and together take all", async () => {
    const { store } = current();
    await using first = await start();
    await using second = await start();
    const messages = times(40, () => messageWith());
    for (const message of messages) await store.accept(message, terms);
    const taken: string[] = [];
    for (let turn = 0; turn < 20 && taken.length < messages.length; turn++) {
      const claims = await Promise.all([first.claimDue(5, terms, 2), second.claimDue(5, terms, 2)]);
      taken.push(...claims.flat().map(({ message }) => message.id));
    }
    expect(taken.toSorted()).toEqual(messages.map(({ id }) => id).toSorted());
  });

  slow("what a killed process had claimed is free when its lease is over", async () => {
    const { store, makeOlder } = current();
    await using child = await start();
    const message = messageWith();
    const [result] = await child.claim(message, terms, 1);
    expect(result?.kind).toBe("claimed");
    await child.kill();
    expect((await store.claim(message, terms)).kind).toBe("running");
    await makeOlder(LEASE_MS + 1);
    expect((await store.claim(message, terms)).kind).toBe("claimed");
  });

  if (!features.transactions) return;

  slow("of fifty runs by two processes one works, and its effect is there once", async () => {
    const { effects } = current();
    await using first = await start();
    await using second = await start();
    const message = messageWith();
    const runs = [first, second].map((child) => child.work(message, terms, "paid", 25));
    const kinds = (await Promise.all(runs)).flat().map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "worked")).toHaveLength(1);
    expect(kinds.filter((kind) => kind !== "worked" && kind !== "running" && kind !== "done")).toEqual([]);
    expect(await effects?.read()).toEqual(["paid"]);
  });

  test("a process killed in the middle of its transaction leaves nothing, and the next has its effect once", async () => {
    const { store, effects } = current();
    if (store.transactions === null || effects === undefined)
      throw new Error("This store has no transactions.");
    await using child = await start();
    const message = messageWith();
    await child.workForEver(message, terms, "half");
    await child.kill();
    await expect
      .poll(
        () =>
          store.transactions?.run(message, terms, (tx) => effects.write(tx, "paid")).then(({ kind }) => kind),
        { timeout: 20_000 },
      )
      .toBe("worked");
    expect(await effects.read()).toEqual(["paid"]);
  });
}
