import { expect, test } from "vitest";
import { storeSuite } from "../../../../../tests/receiver-stores/store-suite.ts";
import { openMemoryWorld } from "../../../../../tests/support/receiver/memory-world.ts";
import {
  claimed,
  defaults,
  messageWith,
  WINDOW_MS,
} from "../../../../../tests/support/receiver/store-world.ts";

storeSuite("memory", openMemoryWorld, { transactions: false });

test("expired messages are deleted faster than new ones are added, without a prune", async () => {
  const { store, rows, makeOlder, close } = await openMemoryWorld();
  for (let count = 0; count < 10; count++) await store.complete(await claimed(store, messageWith()));
  await makeOlder(WINDOW_MS + 1);
  for (let count = 0; count < 5; count++) await store.accept(messageWith(), defaults);
  expect(await rows()).toBe(5);
  await close();
});
