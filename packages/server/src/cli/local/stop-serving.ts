// Stops a serving process: it reports not ready, then the engine drains, and the listener closes last, so that load
// balancers never see refused connections.
import type { Posthorn } from "posthorn";
import type { Service } from "../../server.ts";

/** Minimum time for open requests after the engine has used up the grace period. */
const LAST_RESPONSES_MS = 500;

export async function stopServing(server: Service, hooks: Posthorn, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  const leftMs = (): number => Math.max(0, deadline - performance.now());
  await server.drain({ graceMs });
  try {
    await hooks.stop({ graceMs: leftMs() });
  } finally {
    await server.stop({ graceMs: Math.max(LAST_RESPONSES_MS, leftMs()) });
  }
}
