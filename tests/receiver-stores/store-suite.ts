// The contract of store.ts as tests, which each store runs from its own test file.
import { beforeEach, describe, expect, test } from "vitest";
import { type Share, sharePicker } from "../support/matrix.ts";
import type { StoreFeatures, StoreWorld } from "../support/receiver/store-world.ts";
import { inboxTests } from "./inbox.ts";
import { messageTests } from "./messages.ts";
import { orderTests } from "./order.ts";
import { transactionTests } from "./transactions.ts";

/** `open` is called for every test and returns an empty store. */
export function storeSuite<Tx>(
  name: string,
  open: () => Promise<StoreWorld<Tx>>,
  features: StoreFeatures,
  share?: Share,
): void {
  describe(name, () => {
    let world: StoreWorld;
    const isPicked = sharePicker(share);
    beforeEach(async ({ skip }) => {
      if (!isPicked()) skip();
      world = (await open()) as StoreWorld;
      return () => world.close();
    });

    test("can be migrated repeatedly and concurrently", async () => {
      await Promise.all(Array.from({ length: 5 }, () => world.store.migrate()));
      expect(await world.rows()).toBe(0);
    });

    test("has transactions if its tests expect them", () => {
      expect(world.store.transactions !== null).toBe(features.transactions);
      expect(world.effects !== undefined).toBe(features.transactions);
    });

    describe("messages", () => messageTests(() => world));
    if (!features.isByLibrary) {
      describe("the inbox and the window", () => inboxTests(() => world, features));
      describe("the sequence guard", () => orderTests(() => world));
    }
    if (features.transactions) describe("transactions", () => transactionTests(() => world, features));
  });
}
