// What a receiver promises, on any store and in each of its modes. A store runs it from a test file of its own.
import type { Mode } from "@posthorn/receiver";
import { afterEach, beforeEach, describe } from "vitest";
import { authenticityTests } from "./receiver-suite/authenticity.ts";
import { type Desk, openDesk } from "./receiver-suite/desk.ts";
import { effectTests } from "./receiver-suite/effects.ts";
import { failureTests } from "./receiver-suite/failures.ts";
import type { StoreWorld } from "./store-world.ts";

/** `open` is called for every test and gives an empty store. */
export function receiverSuite<Tx>(
  name: string,
  open: () => Promise<StoreWorld<Tx>>,
  modes: readonly Mode[],
): void {
  describe.each(modes)(`${name}, mode %s`, (mode) => {
    let desk: Desk;
    beforeEach(async () => {
      desk = openDesk((await open()) as StoreWorld, mode);
    });
    afterEach(() => desk.close());
    const current = () => desk;

    describe("effects", () => effectTests(current));
    describe("failures", () => failureTests(current));
    describe("authenticity", () => authenticityTests(current));
  });
}
