// The subscriber on the store in memory.
import { memoryStore, type Store } from "@posthorn/receiver";
import { afterEach, vi } from "vitest";
import { subscriberSuite } from "../../../../tests/support/receiver/websub/suite.ts";

afterEach(() => void vi.useRealTimers());

subscriberSuite(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  return {
    store: memoryStore() as Store,
    elapse: async (ms) => void vi.setSystemTime(Date.now() + ms),
  };
});
