// The test environment of the memory store: it reads Date, so Date is moved.
import { memoryStore } from "@posthorn/receiver";
import { vi } from "vitest";
import type { StoreWorld } from "./store-world.ts";

export async function openMemoryWorld(): Promise<StoreWorld<never>> {
  vi.useFakeTimers({ toFake: ["Date"] });
  const store = memoryStore();
  return {
    store,
    makeOlder: async (ms) => void vi.setSystemTime(Date.now() + ms),
    rows: async () => store.size,
    close: async () => void vi.useRealTimers(),
  };
}
