// The memory store, held to what every store must do.
import { expect, test } from "vitest";
import { openMemoryWorld } from "../../../../../tests/support/receiver/memory-world.ts";
import { storeSuite } from "../../../../../tests/support/receiver/store-suite.ts";
import { claimed, messageWith, terms, WINDOW_MS } from "../../../../../tests/support/receiver/store-world.ts";

storeSuite("memory", openMemoryWorld, { transactions: false, processes: false });

test("without a prune it forgets what is past the window faster than it learns", async () => {
  const { store, rows, makeOlder, close } = await openMemoryWorld();
  for (let count = 0; count < 10; count++) await store.complete(await claimed(store, messageWith()));
  await makeOlder(WINDOW_MS + 1);
  for (let count = 0; count < 5; count++) await store.accept(messageWith(), terms);
  expect(await rows()).toBe(5);
  await close();
});
