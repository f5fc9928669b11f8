// One suite, every store: each sentence of store.ts as tests. A store runs it from a test file of its own.
import { beforeEach, describe, expect, test } from "vitest";
import { type Share, sharePicker } from "../matrix.ts";
import { claimTests } from "./store-suite/claims.ts";
import { deadLetterTests } from "./store-suite/dead-letters.ts";
import { failureTests } from "./store-suite/failures.ts";
import { inboxTests } from "./store-suite/inbox.ts";
import { orderTests } from "./store-suite/order.ts";
import { processTests } from "./store-suite/processes.ts";
import { transactionTests } from "./store-suite/transactions.ts";
import { windowTests } from "./store-suite/window.ts";
import type { StoreFeatures, StoreWorld } from "./store-world.ts";

/** `open` is called for every test and returns an empty store. */
export function storeSuite<Tx>(
  name: string,
  open: () => Promise<StoreWorld<Tx>>,
  features: StoreFeatures,
  share?: Share,
): void {
  describe(name, () => {
    let world: StoreWorld;
    const current = () => world;
    const isPicked = sharePicker(share);
    beforeEach(async ({ skip }) => {
      if (!isPicked()) skip();
      world = (await open()) as StoreWorld;
      return () => world.close();
    });

    test("can be migrated again, and by many at once, without losing anything", async () => {
      await Promise.all(Array.from({ length: 5 }, () => world.store.migrate()));
      expect(await world.rows()).toBe(0);
    });

    test("has transactions exactly where its tests say so", () => {
      expect(world.store.transactions !== null).toBe(features.transactions);
      expect(world.effects !== undefined).toBe(features.transactions);
    });

    describe("claims", () => claimTests(current));
    describe("failures", () => failureTests(current));
    describe("dead letters", () => deadLetterTests(current));
    if (!features.isByLibrary) {
      describe("the window", () => windowTests(current, features));
      describe("the inbox", () => inboxTests(current));
      describe("the sequence guard", () => orderTests(current));
    }
    if (features.transactions) describe("transactions", () => transactionTests(current));
    if (features.processes) describe("several processes", () => processTests(current, features));
  });
}
