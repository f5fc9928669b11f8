// How a process that serves stops: first it tells whoever sends it requests, then the engine drains, and the listener
// closes last. In the other order a load balancer would see refused connections where it asks for readiness.
import type { Posthorn } from "posthorn";
import type { Service } from "../../server.ts";

/** For those who are still being answered when the engine has used up the grace. */
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
