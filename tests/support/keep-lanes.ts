// Keeps every lane with the worker that owns it, however slow the machine is.
import { performance } from "node:perf_hooks";
import { vi } from "vitest";
import { Lease } from "../../packages/posthorn/src/delivery/lease.ts";

/**
 * All workers of a test share the event loop of its process, so that on a busy machine one of them would seem overloaded
 * by itself and yield its lanes to another, which has not measured its own load yet. And a worker beside others would
 * release a lane that is idle for a second and a half; as if it were alone, it keeps the lane for half a minute.
 * `vi.restoreAllMocks` ends this.
 */
export function keepLanes() {
  vi.spyOn(performance, "eventLoopUtilization").mockReturnValue({ idle: 1, active: 0, utilization: 0 });
  return { otherWorkers: vi.spyOn(Lease.prototype, "others", "get").mockReturnValue(0) };
}
