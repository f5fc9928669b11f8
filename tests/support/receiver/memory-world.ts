// The memory store in its world: it reads Date, so that is what is moved.
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
