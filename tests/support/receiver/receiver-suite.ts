// What a receiver promises, on any store and in each of its modes. A store runs it from a test file of its own.
import type { Mode } from "@posthorn/receiver";
import { beforeEach, describe } from "vitest";
import { sharePicker } from "../matrix.ts";
import { authenticityTests } from "./receiver-suite/authenticity.ts";
import { type Desk, openDesk } from "./receiver-suite/desk.ts";
import { effectTests } from "./receiver-suite/effects.ts";
import { failureTests } from "./receiver-suite/failures.ts";
import type { StoreWorld } from "./store-world.ts";

/** `open` is called for every test and returns an empty store. In `npm test` each mode runs a third of the tests. */
export function receiverSuite<Tx>(
  name: string,
  open: () => Promise<StoreWorld<Tx>>,
  modes: readonly Mode[],
  offset = 0,
): void {
  describe.each(modes.map((mode, at) => [mode, at] as const))(`${name}, mode %s`, (mode, at) => {
    let desk: Desk;
    const isPicked = sharePicker({ index: at + offset, of: 3 });
    beforeEach(async ({ skip }) => {
      if (!isPicked()) skip();
      desk = openDesk((await open()) as StoreWorld, mode);
      return () => desk.close();
    });
    const current = () => desk;

    describe("effects", () => effectTests(current));
    describe("failures", () => failureTests(current));
    describe("authenticity", () => authenticityTests(current));
  });
}
