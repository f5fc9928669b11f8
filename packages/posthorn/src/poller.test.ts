import { expect, test } from "vitest";
import { silentLogger } from "./observe/log.ts";
import { createPoller, type PolledLoop } from "./poller.ts";
import type { Queryable } from "./storage/database.ts";
import type { Work } from "./storage/queries/find-work.ts";

const nothing: Work = {
  hasWaitingEvents: false,
  hasReadyLanes: false,
  hasPendingBatches: false,
  hasDueReplays: false,
  hasIncidents: false,
  deliveryModeVersion: 0,
  catalogueVersion: 1,
};

test("a poll wakes the loops that have work, each at most as often as it asks for", async () => {
  let work = nothing;
  const woken: string[] = [];
  const loop = (name: string, everyMs: number, hasWork: PolledLoop["hasWork"]): PolledLoop => ({
    hasWork,
    wake: () => woken.push(name),
    everyMs,
  });
  const poller = createPoller({
    db: { query: async () => [work] } as unknown as Queryable,
    logger: silentLogger,
    intervalMs: 60_000,
    loops: [
      loop("relay", 0, ({ hasWaitingEvents }) => hasWaitingEvents),
      loop("batcher", 60_000, ({ hasPendingBatches }) => hasPendingBatches),
      loop("replayer", 0, ({ hasDueReplays }) => hasDueReplays),
    ],
  });
  await poller.start();
  await poller.runNow();
  expect(woken).toEqual([]);
  work = { ...nothing, hasWaitingEvents: true, hasPendingBatches: true };
  await poller.runNow();
  await poller.runNow();
  expect(woken).toEqual(["relay", "batcher", "relay"]);
  await poller.stop();
});
